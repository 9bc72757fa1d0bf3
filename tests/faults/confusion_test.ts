/** Tests of src/faults/confusion.ts: true causes against the first-ranked ones. */
import { assertEquals } from "@std/assert";
import { confusionRows, confusionTable, type TriagedRun } from "../../src/faults/confusion.ts";
import type { FaultName } from "../../src/faults/faults.ts";

function triaged(
  name: string,
  fault: FaultName | undefined,
  causes: readonly FaultName[],
): TriagedRun {
  return {
    name,
    seed: 0,
    fault,
    report: {
      conclusion: causes.length > 0 ? "fault" : "nothing-fired",
      note: "",
      causes: causes.map((cause) => ({
        fault: cause,
        score: 0.5,
        evidence: [],
        next: { kind: "check", fault: cause },
      })),
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
  ]);
  assertEquals(rows, [
    {
      name: "healthy",
      runs: 2,
      answers: [["nothing-fired", 1], ["lr_high", 1]],
      right: 1,
      inFirstThree: 1,
    },
    {
      name: "lr_high",
      runs: 4,
      answers: [["sign_flip", 2], ["lr_high", 1], ["nothing-fired", 1]],
      right: 1,
      inFirstThree: 2,
    },
  ]);
  assertEquals(confusionTable(rows), [
    "| run     | runs | first-ranked answer                           | right | in the first three |",
    "| ------- | ---: | --------------------------------------------- | ----: | -----------------: |",
    "| healthy |    2 | nothing-fired × 1, lr_high × 1                |     1 |                  1 |",
    "| lr_high |    4 | sign_flip × 2, lr_high × 1, nothing-fired × 1 |     1 |                  2 |",
  ]);
});
