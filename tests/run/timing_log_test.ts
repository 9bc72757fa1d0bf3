/** Tests of src/run/timing_log.ts. */
import { assertEquals } from "@std/assert";
import { readJournal } from "../../src/files/journal.ts";
import type { StepReport } from "../../src/rl/trainer.ts";
import { TimingLog } from "../../src/run/timing_log.ts";
import { withFolder } from "../files/with_folder.ts";

/** A step of two episodes, as far as its time is concerned. */
function stepOf(step: number): StepReport {
  const trajectories = [{ ids: new Uint32Array(30) }, { ids: new Uint32Array(20) }];
  return { step, batch: { trajectories } } as unknown as StepReport;
}

function append(path: string, steps: readonly number[]): void {
  using log = new TimingLog(path, { step: steps[0], lr: 0.002 });
  for (const step of steps) {
    const startMs = Date.UTC(2026, 0, 31) + 1000 * step;
    log.append(stepOf(step), { startMs, endMs: startMs + 250 });
  }
  log.sync();
}

Deno.test("TimingLog writes time, tokens, their rate and the step size, and drops what is redone", () =>
  withFolder((folder) => {
    const path = `${folder}/timing.jsonl`;
    append(path, [0, 1, 2, 3]);
    assertEquals(readJournal(path)[1], {
      step: 1,
      time: "2026-01-31T00:00:01.250Z",
      seconds: 0.25,
      tokens: 50,
      tokens_per_second: 200,
      lr: 0.002,
    });
    const whole = Deno.readTextFileSync(path);
    append(path, [2, 3]);
    assertEquals(Deno.readTextFileSync(path), whole);
    // A damaged row and all behind it are lost, and the run goes on.
    Deno.writeTextFileSync(path, whole.replace('"step":1', "#"));
    append(path, [2, 3]);
    assertEquals(readJournal(path).map(({ step }) => step), [0, 2, 3]);
  }));
