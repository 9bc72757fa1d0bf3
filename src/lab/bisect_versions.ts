/** Experiment `bisect_versions`: eight versions of a trainer, one of which broke it; the invariants find it in three tests. */
import { bisect } from "../diagnose/bisect.ts";
import { type FaultName, faultyStages } from "../faults/faults.ts";
import { violated } from "../diagnose/invariants.ts";
import { resolveConfig } from "../rl/config.ts";
import { checkTrainer, debugBaseAgent } from "./debug_runs.ts";
import type { Experiment } from "./experiment.ts";

const TUTORIAL = { tests: 3, firstBad: 3, tested: [3, 1, 2] } as const;

/** A version of the trainer, and the fault that has come with it or before. */
interface Version {
  readonly name: string;
  readonly fault: FaultName | undefined;
}

/** Versions, and the one that brings the sign error. */
const VERSION_COUNT = 8;
const BROKEN_SINCE = 3;

/** The search sees none of the faults, only what the invariants say. */
const VERSIONS: readonly Version[] = Array.from({ length: VERSION_COUNT }, (_, number) => ({
  name: `version ${number}`,
  fault: number < BROKEN_SINCE ? undefined : "sign_flip",
}));

/** Which of eight versions broke the trainer, and how many tests it took. */
export const BISECT_VERSIONS: Experiment = {
  name: "bisect_versions",
  title: "Bisecting a regression, with the invariants as the test",
  shows:
    "One of eight versions introduced a sign error. The search asks of a version only whether every invariant holds, " +
    "which costs a batch instead of a training run, and needs three tests.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 5,
  run: async (context) => {
    await debugBaseAgent(context);
    const config = resolveConfig({ flags: { algorithm: "grpo", klCoef: 0.1, seed: context.seed } });
    const failing: number[][] = [];
    const { index, tests } = await bisect(VERSIONS, async ({ name, fault }) => {
      context.progress(name, failing.length / TUTORIAL.tests);
      const results = await checkTrainer(context, { config, stages: faultyStages(fault) });
      failing.push(violated(results).map(({ id }) => id));
      return failing[failing.length - 1].length === 0;
    });
    const tested = tests.map((test) => test.index);
    return {
      tables: [{
        title: "the tests, in their order",
        columns: ["test", "tutorial", "ours", "verdict", "violated"],
        rows: tests.map((test, i) => [
          i + 1,
          TUTORIAL.tested[i] ?? null,
          test.index,
          test.isGood ? "good" : "bad",
          failing[i].join(", ") || "none",
        ]),
      }],
      figures: [],
      checks: [
        {
          requirement: `${TUTORIAL.tests} tests`,
          value: tests.length,
          holds: tests.length === TUTORIAL.tests,
        },
        {
          requirement: `first bad version ${BROKEN_SINCE}`,
          value: index,
          holds: index === BROKEN_SINCE,
        },
      ],
      data: { firstBad: index, tested, failing },
    };
  },
};
