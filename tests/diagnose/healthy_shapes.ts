/** Healthy runs of many kinds: none of them deserves an accusation. */
import type { Shape, writeLog } from "./synthetic_runs.ts";

/** A kind of run, and how its log is written. */
export interface HealthyKind {
  readonly shape: Omit<Shape, "seed">;
  readonly view?: Partial<Parameters<typeof writeLog>[1]>;
}

/** The kinds by name. */
export const HEALTHY_SHAPES: Readonly<Record<string, HealthyKind>> = {
  plain: { shape: { steps: 100 } },
  "very noisy": { shape: { steps: 120, groups: 2, groupSize: 4, wander: 0.6 } },
  short: { shape: { steps: 12 } },
  "very short": { shape: { steps: 4 } },
  "a row every ten steps": { shape: { steps: 400, every: 10, schedule: "linear" } },
  "few rows": { shape: { steps: 150, every: 10 } },
  "solved early": { shape: { steps: 100, from: 0.5, to: 0.995, half: 0.15, entropyLeft: 0.05 } },
  "solved from the start": { shape: { steps: 80, from: 0.96, to: 0.99, entropyLeft: 0.3 } },
  "hard tasks": { shape: { steps: 120, from: 0.02, to: 0.25, half: 0.6 } },
  "does not learn": { shape: { steps: 100, from: 0.4, to: 0.4, wander: 0.4, entropyLeft: 0.8 } },
  long: { shape: { steps: 3000, schedule: "cosine" } },
  "wandering tasks": { shape: { steps: 300, wander: 0.5 } },
  "three decimals": { shape: { steps: 100, decimals: 3, updates: 4 } },
  "several updates per batch": {
    shape: { steps: 100, updates: 4 },
    view: { settings: { updatesPerBatch: 4 } },
  },
  "gap at the top of bf16 noise": { shape: { steps: 100, gap: 0.016 } },
  "answers grow as they get better": { shape: { steps: 150, lengthGrowth: 4 } },
  "answers get shorter as they get better": { shape: { steps: 150, lengthGrowth: -0.7 } },
  "entropy falls as the task is learned": { shape: { steps: 120, to: 0.95, entropyLeft: 0.06 } },
  "many lone spikes": { shape: { steps: 200, spikes: 0.04 } },
  "a KL penalty": {
    shape: { steps: 100, klCoef: 0.04, schedule: "linear" },
    view: { settings: { klCoef: 0.04 } },
  },
  "groups of two": { shape: { steps: 200, groups: 1, groupSize: 2 } },
};
