/** All planted faults. */
import { JUDGING } from "./development/judging.ts";
import { LOSS } from "./development/loss.ts";
import { SAMPLING } from "./development/sampling.ts";
import { UPDATING } from "./development/updating.ts";
import type { PlantedFault } from "./fault.ts";
import { JUDGING as HELD_OUT_JUDGING } from "./held_out/judging.ts";
import { LOSS as HELD_OUT_LOSS } from "./held_out/loss.ts";
import { SAMPLING as HELD_OUT_SAMPLING } from "./held_out/sampling.ts";
import { UPDATING as HELD_OUT_UPDATING } from "./held_out/updating.ts";

/** The half that rules may be made on. */
export const DEVELOPMENT: readonly PlantedFault[] = [
  ...JUDGING,
  ...LOSS,
  ...UPDATING,
  ...SAMPLING,
];

/** The half that they are judged on. */
export const HELD_OUT: readonly PlantedFault[] = [
  ...HELD_OUT_JUDGING,
  ...HELD_OUT_LOSS,
  ...HELD_OUT_UPDATING,
  ...HELD_OUT_SAMPLING,
];

/** Both halves. */
export const PLANTED: readonly PlantedFault[] = [...DEVELOPMENT, ...HELD_OUT];
