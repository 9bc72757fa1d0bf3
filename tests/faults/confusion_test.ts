/** Tests of src/faults/confusion.ts: true causes against the first-ranked ones. */
import { assertEquals } from "@std/assert";
import { confusionRows, confusionTable, type TriagedRun } from "../../src/faults/confusion.ts";
import type { TriageReport } from "../../src/diagnose/triage/triage.ts";
import type { FaultName } from "../../src/faults/faults.ts";

function triaged(
  name: string,
  fault: FaultName | undefined,
  causes: readonly FaultName[],
  conclusion: TriageReport["conclusion"] = causes.length > 0 ? "fault" : "nothing-fired",
): TriagedRun {
  return {
    name,
    seed: 0,
    fault,
    report: {
      conclusion,
      note: "",
      causes: causes.map((cause) => ({
        fault: cause,
        score: 0.5,
        evidence: [],
        next: { kind: "check", fault: cause },
      })),
      unknown: causes.length > 0 ? 0.5 : 0,
      notCompared: [],
      unchecked: [],
      evidence: [],
    },
  };
}

Deno.test("confusionRows() counts first causes, the first three, and healthy runs without a cause", () => {
  const rows = confusionRows([
    triaged("healthy", undefined, []),
    triaged("healthy", undefined, ["lr_high"]),
    triaged("lr_high", "lr_high", ["lr_high", "sign_flip"]),
    triaged("lr_high", "lr_high", ["sign_flip", "mask_shift", "lr_high"]),
    triaged("lr_high", "lr_high", ["sign_flip", "mask_shift", "denominator", "lr_high"]),
    triaged("lr_high", "lr_high", []),
    // A cause that is listed and hardly believed does not count.
    triaged("lr_high", "lr_high", ["lr_high"], "unknown-cause"),
    triaged("healthy", undefined, [], "unknown-cause"),
    triaged("kl_0.1", undefined, []),
  ]);
  assertEquals(rows, [
    {
      name: "healthy",
      runs: 3,
      answers: [["nothing-fired", 1], ["lr_high", 1], ["unknown-cause", 1]],
      right: 1,
      belief: 0.5,
      inFirstThree: 1,
    },
    {
      name: "lr_high",
      runs: 5,
      answers: [
        ["sign_flip", 2],
        ["lr_high", 1],
        ["nothing-fired", 1],
        ["unknown-cause", 1],
      ],
      right: 1,
      belief: 0.5,
      inFirstThree: 2,
    },
    {
      name: "kl_0.1",
      runs: 1,
      answers: [["nothing-fired", 1]],
      right: 1,
      belief: NaN,
      inFirstThree: 1,
    },
  ]);
  assertEquals(confusionTable(rows), [
    "| run     | runs | first-ranked answer                                              | right | in the first three | belief |",
    "| ------- | ---: | ---------------------------------------------------------------- | ----: | -----------------: | -----: |",
    "| healthy |    3 | nothing-fired × 1, lr_high × 1, unknown-cause × 1                |     1 |                  1 |   0.50 |",
    "| lr_high |    5 | sign_flip × 2, lr_high × 1, nothing-fired × 1, unknown-cause × 1 |     1 |                  2 |   0.50 |",
    "| kl_0.1  |    1 | nothing-fired × 1                                                |     1 |                  1 |      – |",
  ]);
});
