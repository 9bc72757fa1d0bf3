/** rLLM: verl's keys, and how many tasks are solved. */
import { hasKey } from "./log_traits.ts";
import { OF_GROUPS } from "./shapes.ts";
import { VERL } from "./verl.ts";
import type { LogTraits, MetricDefinition, Producer } from "./definition.ts";

const SOLVED = ["batch/solve_none", "batch/solve_all", "batch/solve_partial"] as const;

/** Its keys are verl's and more, so that it must outrank verl. */
const ABOVE_VERL = 0.99;

/** Counts of tasks rather than shares: a value above 1, or three that do not make up 1 together. */
function areCounts(traits: LogTraits): boolean {
  const [none, all, partial] = SOLVED.map((key) => traits.values(key));
  if ([none, all, partial].some((values) => values.some((value) => value > 1))) return true;
  if (none.length !== all.length || all.length !== partial.length) return false;
  return none.some((value, row) => Math.abs(value + all[row] + partial[row] - 1) > 1e-3);
}

const OWN: readonly MetricDefinition[] = [
  {
    metric: "none_solved",
    key: "batch/solve_none",
    ...OF_GROUPS,
    unit: "share",
    eras: ["shares"],
    says: "Share of tasks whose every rollout failed.",
  },
  {
    metric: "all_solved",
    key: "batch/solve_all",
    ...OF_GROUPS,
    unit: "share",
    eras: ["shares"],
    says: "Share of tasks whose every rollout succeeded.",
  },
  {
    metric: "all_solved",
    key: /batch\/.+\/fractions\/too_easy/,
    ...OF_GROUPS,
    unit: "share",
    says: "Share of one role's groups in which every trajectory succeeded.",
  },
  {
    metric: "none_solved",
    key: /batch\/.+\/fractions\/too_hard/,
    ...OF_GROUPS,
    unit: "share",
    says: "Share of one role's groups in which every trajectory failed.",
  },
];

/** rLLM. */
export const RLLM: Producer = {
  ...VERL,
  id: "rllm",
  title: "rLLM",
  recognise: (traits) =>
    SOLVED.some((key) => hasKey(traits, key)) ||
      hasKey(traits, /^batch\/.+\/fractions\/too_easy$/)
      ? ABOVE_VERL
      : 0,
  eras: [
    { id: "counts", title: "with counts of solved tasks", fits: areCounts },
    { id: "shares", title: "with shares of solved tasks", fits: (log) => !areCounts(log) },
  ],
  definitions: [...VERL.definitions, ...OWN],
  alsoLogs: [...VERL.alsoLogs, /(?:batch|reward|episode|groups|trajectory|traj)\/.+/],
};
