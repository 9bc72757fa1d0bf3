/** Experiment `matrix`: every fault against every invariant, on 64 episodes and before any training. */
import {
  CONFIGURATION_FAULTS,
  faultConfig,
  type FaultName,
  faultyStages,
  FURTHER_FAULTS,
  MATRIX_FAULTS,
} from "../faults/faults.ts";
import type { LabMatrixData } from "../diagnose/check_schema.ts";
import { VERDICT_MARKS } from "../diagnose/invariant.ts";
import { violated } from "../diagnose/invariants.ts";
import { resolveConfig } from "../rl/config.ts";
import { checkTrainer, debugBaseAgent } from "./debug_runs.ts";
import type { Experiment, LabContext, ResultTable } from "./experiment.ts";

/** The checks that fail for a fault, of the nine of the text. */
const TUTORIAL = {
  none: [],
  mask_shift: [1, 2, 5],
  stale_old_logp: [7],
  entropy_sign: [],
  sign_flip: [8],
  accum_local: [6],
  sampler_temp: [2, 3],
  ref_is_policy: [9],
} as const satisfies Record<"none" | typeof MATRIX_FAULTS[number], readonly number[]>;

/** The checks beyond the text: 10, the sign of the entropy term, is there for this fault, and 11 for none of these. */
const BEYOND: Readonly<Partial<Record<keyof typeof TUTORIAL, readonly number[]>>> = {
  entropy_sign: [10],
};

/** Checks with higher numbers came when other faults asked for them; what they say of these faults is shown, not required. */
const LAST_EXPECTED = 11;

type MatrixRow = LabMatrixData["rows"][number];

async function checkFaults(
  context: LabContext,
  faults: readonly (FaultName | undefined)[],
): Promise<MatrixRow[]> {
  await debugBaseAgent(context);
  const rows: MatrixRow[] = [];
  for (const [i, fault] of faults.entries()) {
    context.progress(fault ?? "no fault", i / faults.length);
    const config = resolveConfig({
      flags: { algorithm: "grpo", klCoef: 0.1, ...faultConfig(fault), seed: context.seed },
    });
    const checks = await checkTrainer(context, { config, stages: faultyStages(fault) });
    rows.push({ fault: fault ?? "none", checks, caughtBy: violated(checks).map(({ id }) => id) });
  }
  return rows;
}

function matrixTable(title: string, rows: readonly MatrixRow[]): ResultTable {
  return {
    title,
    columns: ["fault", ...(rows[0]?.checks ?? []).map(({ id }) => String(id))],
    rows: rows.map((
      { fault, checks },
    ) => [fault, ...checks.map(({ verdict }) => VERDICT_MARKS[verdict])]),
  };
}

/** The verdict of every invariant on every fault. */
export const MATRIX: Experiment = {
  name: "matrix",
  title: "Which invariant catches which fault",
  shows:
    "Before any training, on one batch, every fault of the code violates the invariants that name it, and the healthy " +
    "trainer violates none. No invariant can see what comes from a configuration. Quick: only the tutorial's faults.",
  tutorial: TUTORIAL,
  variants: {},
  costSeconds: 25,
  run: async (context) => {
    const further = context.quick ? [] : [...FURTHER_FAULTS, ...CONFIGURATION_FAULTS];
    const all = await checkFaults(context, [undefined, ...MATRIX_FAULTS, ...further]);
    const rows = all.filter(({ fault }) => Object.hasOwn(TUTORIAL, fault));
    const beyond = all.filter(({ fault }) => !Object.hasOwn(TUTORIAL, fault));
    const names = (rows[0]?.checks ?? []).map(({ id, name }) => [id, name]);
    return {
      tables: [
        matrixTable("the tutorial's faults", rows),
        ...(beyond.length === 0
          ? []
          : [matrixTable("more faults, and configurations that run correct code", beyond)]),
        { title: "the checks", columns: ["id", "what must hold"], rows: names },
      ],
      figures: [],
      checks: rows.map(({ fault, caughtBy }) => {
        const name = fault as keyof typeof TUTORIAL; // Filtered above.
        const expected = [...TUTORIAL[name], ...(BEYOND[name] ?? [])];
        const caught = caughtBy.filter((id) => id <= LAST_EXPECTED);
        return {
          requirement: `${fault}: of checks 1–11, violates ${expected.join(", ") || "none"}`,
          value: caught.join(", ") || "none",
          holds: caught.join() === expected.join(),
        };
      }),
      data: { rows: all } satisfies LabMatrixData,
    };
  },
};
