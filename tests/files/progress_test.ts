/** Tests of src/files/progress.ts, with a clock and a writer of their own. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { formatDuration, Progress } from "../../src/files/progress.ts";

function make(interactive: boolean, alreadyDone = 0) {
  const state = { nowMs: 0, text: "", columns: 80 };
  const progress = new Progress({
    label: "train",
    total: 100,
    alreadyDone,
    interactive,
    columns: () => state.columns,
    write: (text) => state.text += text,
    nowMs: () => state.nowMs,
  });
  return { state, progress };
}

Deno.test("Progress writes plain lines, at most one every two seconds, when it is not interactive", () => {
  const { state, progress } = make(false);
  for (let done = 1; done <= 100; done++) {
    state.nowMs += 100;
    progress.update(done, `reward 0.${done}`);
  }
  const lines = state.text.trimEnd().split("\n");
  assertEquals(lines.length, 6); // At 0.1, 2.1, 4.1, 6.1, 8.1 s, and the end.
  assertEquals(lines[0], "train 1/100 | 0s, 10s left | reward 0.1");
  assertEquals(lines.at(-1), "train 100/100 | 10s | reward 0.100");
  assert(!state.text.includes("\x1b") && !state.text.includes("\r"));
});

Deno.test("Progress redraws one line, a column less than the terminal has, when it is interactive", () => {
  const { state, progress } = make(true);
  state.nowMs = 30_000;
  progress.update(50, `${"long ".repeat(40)}\n\x1b[31m`);
  state.nowMs += 99;
  progress.update(51); // Too soon.
  const line = state.text.replace("\r\x1b[K", "");
  assertEquals(line.length, 79);
  assertStringIncludes(line, "[#####.....] 50/100 | 30s, 30s left | long");
  // A window that was made narrower: what wraps could not be redrawn.
  state.columns = 50;
  state.text = "";
  state.nowMs += 100;
  progress.update(51, "long ".repeat(40));
  assertEquals(state.text.replace("\r\x1b[K", "").length, 49);
  progress[Symbol.dispose]();
  assert(state.text.endsWith("\n"));
});

Deno.test("Progress judges the time left by the work of this start when some was done before", () => {
  const { state, progress } = make(false, 80);
  state.nowMs = 5000;
  progress.update(90);
  assertEquals(state.text, "train 90/100 | 5s, 5s left\n");
});

Deno.test("Progress puts a logged line above the bar", () => {
  const { state, progress } = make(true);
  progress.update(1);
  state.text = "";
  progress.log("eval 0.5");
  assertEquals(state.text, "\r\x1b[Keval 0.5\n");
  progress.update(2); // Redrawn at once.
  assertStringIncludes(state.text, "2/100");
});

Deno.test("formatDuration() writes seconds, minutes and hours", () => {
  const written = [0, 59_400, 59_600, 185_000, 3_599_600, 7_620_000].map(formatDuration);
  assertEquals(written, ["0s", "59s", "1m00s", "3m05s", "1h00m", "2h07m"]);
});
