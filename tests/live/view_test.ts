/** What the page shows of what it knows. */
import { assert, assertEquals } from "@std/assert";
import type { Answer } from "../../src/live/messages.ts";
import { webGpuHelp } from "../../src/live/browser_help.ts";
import { afterAnswer, firstState } from "../../src/live/state.ts";
import { liveCharts, liveParts, PLACES } from "../../src/live/view.ts";
import { CONVERSATION, ROWS, SETTINGS } from "./conversation.ts";

const faults = { mask_shift: "the loss mask is shifted" };
const shown = (answers: readonly Answer[], settings = SETTINGS) => {
  const parts = liveParts(answers.reduce(afterAnswer, firstState(settings)), {
    faults,
    help: "Turn it on.",
  });
  return (place: keyof typeof PLACES) => parts.get(PLACES[place])!.markup;
};

Deno.test("before the start every place says what will stand there", () => {
  const markup = shown([]);
  assertEquals(markup("status"), "Press Start.");
  assertEquals([markup("machine"), markup("notice")], ["", ""]);
  assert(markup("checks").includes("will stand here"));
  assert(markup("runs").includes("Trainer with mask_shift"));
});

Deno.test("at the end the page names what was violated, and the fault", () => {
  const markup = shown(CONVERSATION);
  const [healthy, broken] = markup("runs").split("run broken");
  assert(healthy!.includes("none violated, 1 hold") && !healthy!.includes('violated">'));
  assert(
    broken!.includes("mask = policy tokens") && broken!.includes("<b>mask_shift</b>, belief 0.82"),
  );
  assert(markup("checks").indexOf("1 mask") < markup("checks").indexOf("0 others"));
  assert(markup("episodes").includes("1 of 2 programs repaired"));
  assertEquals(markup("status"), "Both runs ended after 2 steps.");
});

Deno.test("what an episode says is escaped", () => {
  assert(!shown(CONVERSATION)("episodes").includes("<b>ratio"));
  assert(shown(CONVERSATION)("episodes").includes("&lt;task&gt;"));
});

Deno.test("alone, the healthy run is shown alone", () => {
  const markup = shown([], { ...SETTINGS, fault: undefined });
  assert(!markup("runs").includes("broken") && !markup("words").includes("broken"));
});

Deno.test("without WebGPU the page says so, and how to turn it on", () => {
  const markup = shown([{ kind: "failed", reason: "no-webgpu", sentence: "There is none." }]);
  assert(markup("notice").includes("There is none.") && markup("notice").includes("Turn it on."));
  const lost = shown([{ kind: "failed", reason: "lost", sentence: "It is gone." }])("notice");
  assert(lost.includes("It is gone.") && !lost.includes("Turn it on."));
});

Deno.test("charts hold a curve a run, and null of a recording as no value", () => {
  const charts = liveCharts(CONVERSATION.reduce(afterAnswer, firstState(SETTINGS)));
  const [reward] = charts;
  assertEquals(reward?.series.map(({ points }) => points.map(([, y]) => y)), [
    ROWS.map(({ reward }) => reward),
    ROWS.map(({ reward }) => reward),
  ]);
  const row = { ...ROWS[0]!, entropy: null as unknown as number };
  const holed = afterAnswer(firstState(SETTINGS), {
    ...CONVERSATION.find((answer) => answer.kind === "stepped")!,
    row,
  });
  const entropy = liveCharts(holed).find(({ title }) => title.startsWith("Entropy"));
  assertEquals(entropy?.series[0]?.points, [[0, NaN]]);
});

Deno.test("webGpuHelp() tells browsers apart by what they call themselves", () => {
  const chrome = "Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 Chrome/142.0.0.0 Safari/537.36";
  const safari = "Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15";
  const firefox = "Mozilla/5.0 (X11; Linux; rv:140.0) Gecko/20100101 Firefox/140.0";
  assert(webGpuHelp(chrome).includes("chrome://flags"));
  assert(webGpuHelp(safari).startsWith("In Safari"));
  assert(webGpuHelp(firefox).includes("about:config"));
  assert(webGpuHelp("").includes("Current versions"));
});
