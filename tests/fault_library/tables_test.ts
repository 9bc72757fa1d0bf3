/** Outcomes and tables of the library, from observations made up by hand. */
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  answerKind,
  caughtLater,
  caughtOf,
  type FaultRuns,
  isHarmful,
  type Observation,
} from "./observation.ts";
import { withResults } from "./page.ts";
import { calibration, correctSentence, correctTable, faultTable, tally } from "./tables.ts";

function observation(parts: Partial<Observation> = {}): Observation {
  return {
    seed: 0,
    before: [],
    later: [],
    overflowStep: undefined,
    answer: { conclusion: "nothing-fired", causes: [] },
    passRate: 0.8,
    ...parts,
  };
}

function believes(name: string, belief: number): Partial<Observation> {
  return { answer: { conclusion: "fault", causes: [{ name, belief }] } };
}

function fault(runs: readonly Observation[], parts: Partial<FaultRuns> = {}): FaultRuns {
  return {
    name: "some_fault",
    half: "held-out",
    kind: "mask",
    named: ["mask_shift"],
    near: ["mask_end_call"],
    begins: 0,
    healthyLow: 0.5,
    runs,
    ...parts,
  };
}

Deno.test("caughtOf() counts from the step at which the fault begins", () => {
  const later = (step: number) => observation({ later: [{ step, id: 2 }] });
  assertEquals(caughtOf({ begins: 0 }, observation({ before: [1] })), "before");
  assertEquals(caughtOf({ begins: 0 }, later(4)), "in time");
  assertEquals(caughtOf({ begins: 0 }, later(5)), "late");
  assertEquals(caughtOf({ begins: 8 }, later(12)), "in time");
  assertEquals(caughtOf({ begins: 8 }, observation()), "missed");
});

Deno.test("caughtLater() takes what came first, a check or numbers that overflow", () => {
  const later = [{ step: 8, id: 2 }];
  assertEquals(caughtLater(observation({ later, overflowStep: 6 })), { step: 6, by: "NaN" });
  assertEquals(caughtLater(observation({ later, overflowStep: 9 })), { step: 8, by: "2" });
  assertEquals(caughtLater(observation()), undefined);
});

Deno.test("isHarmful() is a pass rate below every healthy one, or none at all", () => {
  assertEquals(isHarmful({ healthyLow: 0.5 }, observation({ passRate: 0.5 })), false);
  assertEquals(isHarmful({ healthyLow: 0.5 }, observation({ passRate: 0.49 })), true);
  assertEquals(isHarmful({ healthyLow: 0.5 }, observation({ passRate: NaN })), true);
});

Deno.test("answerKind() holds the first cause against the fault's own", () => {
  const kindOf = (parts: Partial<Observation>) => answerKind(fault([]), observation(parts));
  assertEquals(kindOf(believes("mask_shift", 0.9)), "named");
  assertEquals(kindOf(believes("mask_end_call", 0.9)), "near");
  assertEquals(kindOf(believes("lr_high", 0.1)), "wrong");
  assertEquals(kindOf({ answer: { conclusion: "unknown-cause", causes: [] } }), "unknown cause");
  assertEquals(kindOf({ answer: { conclusion: "falls-short", causes: [] } }), "falls short");
  assertEquals(kindOf({}), "nothing");
});

Deno.test("tally() counts runs by outcome, and harmful ones that were caught", () => {
  const counted = tally([
    fault([observation({ before: [1], passRate: 0.1 }), observation({ passRate: 0.1 })]),
    fault([observation({ later: [{ step: 3, id: 9 }] }), observation()]),
    fault([observation({ later: [{ step: 7, id: 9 }], passRate: 0 })]),
  ]);
  const { before, inTime, late, missedHarmless, missedHarmful, harmful, harmfulCaught } = counted;
  assertEquals([counted.faults, counted.runs], [3, 5]);
  assertEquals([before, inTime, late, missedHarmless, missedHarmful], [1, 1, 1, 1, 1]);
  assertEquals([harmful, harmfulCaught], [3, 1]);
});

Deno.test("calibration() sorts beliefs into bins, each with its own lower end", () => {
  const [high, middle, low] = calibration([
    fault([observation(believes("mask_shift", 0.9)), observation(believes("lr_high", 0.95))]),
    fault([observation(believes("mask_end_call", 0.5)), observation()]),
  ]);
  assertEquals([high.answers, high.right, high.meanBelief], [2, 1, 0.925]);
  assertEquals([middle.answers, middle.right, middle.meanBelief], [1, 1, 0.5]);
  assertEquals([low.answers, low.right], [0, 0]);
  assertEquals([high.low.toFixed(2), high.high.toFixed(2)], ["0.09", "0.91"]); // Wilson of 1 in 2.
});

Deno.test("faultTable() gives one cell for seeds that agree and both for those that differ", () => {
  const [header, , row] = faultTable([
    fault([
      observation({ before: [1, 2], ...believes("mask_shift", 0.9), passRate: 0.1 }),
      observation({ before: [1, 2], ...believes("lr_high", 0.3), passRate: 0.9 }),
    ]),
  ]);
  const cells = row.split("|").map((cell) => cell.trim()).filter((cell) => cell !== "");
  assertEquals(cells, [
    "some_fault",
    "mask",
    "0",
    "1 2",
    "-",
    "mask_shift 0.90 / lr_high 0.30",
    "named / wrong",
    "0.10 / 0.90",
    "harmful / harmless",
  ]);
  assertEquals(header.split("|").length - 2, cells.length);
});

Deno.test("the table of correct runs lists violated checks and confident names", () => {
  const settings = [
    { name: "grpo", runs: [observation(), observation(believes("lr_high", 0.4))] },
    {
      name: "rloo",
      runs: [
        observation({ before: [4], seed: 2, ...believes("lr_high", 0.5) }),
        observation({
          later: [{ step: 8, id: 3 }],
          answer: { conclusion: "falls-short", causes: [] },
        }),
      ],
    },
  ];
  const [, , grpo, rloo] = correctTable(settings);
  assertStringIncludes(grpo, "nothing-fired × 1");
  assertStringIncludes(rloo, "4 (seed 2), 3 at 8 (seed 0)");
  assertStringIncludes(rloo, "lr_high 0.50 (seed 2)");
  assertEquals(
    correctSentence(settings),
    "4 runs of the right trainer under 2 settings: 2 violated checks, " +
      "1 names with a belief of 0.5 or more, 1 said to fall short.",
  );
});

Deno.test("withResults() changes what stands between the marks, and nothing else", () => {
  const page = "# Title\n\n<!-- measured -->\n\nold\n\n<!-- end of measured -->\n\nrest\n";
  assertEquals(withResults(page, ["old"]), page);
  assertEquals(withResults(page, ["new", "er"]), page.replace("old", "new\ner"));
  assertThrows(() => withResults("# Title\n", ["new"]), Error, "Cannot write results");
});
