/** What a fault is: the stages or settings of a healthy run that it changes, and what triage knows of it. */
import type { Clearing, Needs } from "../diagnose/triage/knowledge.ts";
import type { Advice } from "../diagnose/triage/next_step.ts";
import type { TrainConfig } from "../rl/config.ts";
import type { Stages } from "../rl/stages.ts";

/** A failure: what it is, and what of a healthy run it changes. */
export interface Fault {
  /** One line. */
  readonly summary: string;
  /** `code`: a stage is wrong. `configuration`: the code is right and the setting is not. */
  readonly kind: "code" | "configuration";
  /** The replaced stages. They remember nothing: what a fault needs of earlier steps the trainer keeps. */
  readonly stages?: () => Partial<Stages>;
  /** What it sets in the configuration of the run. */
  readonly config?: Partial<TrainConfig>;
  /** The invariants that could not hold if it were there, by their keys; none where left out. */
  readonly ruledOutBy?: readonly (string | Clearing)[];
  /** Keys of further invariants that it may violate; none where left out. */
  readonly explains?: readonly string[];
  /** The settings without which it cannot be; left out: it can be in any run. */
  readonly needs?: Needs;
  /** How triage says to look further. */
  readonly advice: Advice;
}

/** The first step again, with a stage of the fault's: a run that has the fault stays as it is. */
export const replay = (stage: keyof Stages): Advice => ({ kind: "replay", step: 0, stage });
