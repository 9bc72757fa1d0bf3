/** Tests of transcripts: equal episodes stand once, every episode has a link, and steps are taken evenly. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { OWNER } from "../../src/core/owner.ts";
import { type EpisodeData, type RunData, runOfRows } from "../../src/report/run_data.ts";
import { runPage } from "../../src/report/run_page.ts";
import type { Finding } from "../../src/diagnose/finding.ts";
import { tokenPayloadsOf } from "../../src/report/token_payload.ts";
import { dataOf, sequenceOf } from "./token_fixture.ts";
import { shownSteps, transcripts } from "../../src/report/transcripts.ts";

const { prompt, policy, tool } = OWNER;

function episode(step: number, group: number, rest: Partial<EpisodeData> = {}): EpisodeData {
  return {
    step,
    episode: 0,
    group,
    tokens: [1, 2, 3, 4],
    owners: [prompt, policy, tool, policy],
    logps: [0, -0.5, 0, -4],
    reward: 1,
    info: { task: `<task ${group}>`, stop: "submit" },
    ...rest,
  };
}

function runWith(episodes: readonly EpisodeData[]): RunData {
  return { ...runOfRows([{ step: 0, reward: 1 }], { name: "run", path: "run" }), episodes };
}

Deno.test("transcripts() show equal episodes once with their number, and different ones by themselves", () => {
  const same = [episode(3, 0), episode(3, 0), episode(3, 0, { reward: 0 }), episode(3, 1)];
  const { markup } = transcripts(runWith([...same, episode(5, 0)]), "run-0");
  assertEquals(markup.match(/<div class="episode"/g)?.length, 4);
  assertMatch(markup, /× 2</);
  assertMatch(markup, /Step 3: 4 of 4 episodes, 3 of them different/);
  assertMatch(markup, /Step 5: 1 of 1 episodes</);
  for (const id of ["run-0-episodes-3", "run-0-episodes-5", "run-0-episodes-3-2"]) {
    assertStringIncludes(markup, `id="${id}"`);
  }
  // A turn is a line: the prompt, the first call, the answer, the second call.
  assertEquals(markup.match(/class="turn"/g)?.length, 4 * 4);
  assertStringIncludes(markup, 'data-task="&lt;task 0&gt;"');
  assertEquals(transcripts(runWith([]), "run-0").markup, "");
});

Deno.test("an episode is shown once: where a finding points to it, its transcript leads there", () => {
  const sequences = [
    sequenceOf(0, { step: 3, sample: "7" }),
    sequenceOf(1, { step: 3, sample: "8" }),
  ];
  const findings: Finding[] = [{
    id: "mask_on_unsampled",
    class: "violated",
    sentence: "x",
    at: { file: "dump/step_3.jsonl", row: 1, token: 20 },
  }];
  const run = {
    ...runWith([episode(3, 0, { episode: 7 }), episode(3, 0, { episode: 8 })]),
    tokens: dataOf(sequences, { findings }),
  };
  const { markup } = transcripts(run, "run-0");
  assertMatch(markup, /href="#run-0-tokens-sequence-1">\s*Shown above/);
  assertEquals(markup.match(/class="turn"/g)?.length, 4, "only the other one has its text here");
  const page = runPage(run, 0).body;
  const shown = tokenPayloadsOf(page).flatMap((one) => one.sequences.map(({ key }) => key));
  assertEquals(shown, ["1"], "only what a finding points to is shown token by token");
});

Deno.test("shownSteps() takes the first, the last and steps between evenly", () => {
  assertEquals([...shownSteps([0, 1, 2], 3)], [0, 1, 2]);
  assertEquals([...shownSteps([0, 1, 2, 3, 4, 5, 6, 7, 8], 3)], [0, 4, 8]);
  assertEquals([...shownSteps([], 3)], []);
  assertEquals([...shownSteps([5, 6], 1)], [5]);
});
