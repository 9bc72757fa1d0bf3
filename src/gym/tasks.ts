/** The tasks of BugFix by their split. */
import { HELD_OUT_PROGRAMS } from "./programs_heldout.ts";
import { TRAIN_PROGRAMS } from "./programs_train.ts";
import type { Split, Task } from "./task.ts";

/**
 * The tasks of a split, in the order of their names in the vocabulary: 20 for training (numbers 0 to 19 of "all", four a
 * family), 10 held out (20 to 29, two per family).
 *
 * @param split "train", "heldout", or "all" for both in this order.
 */
export function makeTasks(split: Split | "all"): readonly Task[] {
  const train = TRAIN_PROGRAMS.map((program): Task => ({ ...program, split: "train" }));
  const heldOut = HELD_OUT_PROGRAMS.map((program): Task => ({ ...program, split: "heldout" }));
  return [...(split === "heldout" ? [] : train), ...(split === "train" ? [] : heldOut)];
}
