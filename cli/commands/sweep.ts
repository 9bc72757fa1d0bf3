/** `agentrl sweep`: many runs from one file, on this machine or through a scheduler. */
import { UserError } from "../../src/core/errors.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { SWEEP_FLAGS, type SweepFlags } from "../sweep/sweep_flags.ts";

/** Engines and the flags that only they read. */
const OWN_FLAGS: Readonly<Record<string, readonly (keyof SweepFlags)[]>> = {
  local: ["jobs"],
  slurm: ["partition", "time", "gres", "qos", "template"],
  kubernetes: ["image", "claim", "cpu", "memory", "gpus"],
};

/** A flag that another engine reads would be ignored in silence; one that is missing is said before anything is written. */
function refuseOthers(flags: SweepFlags): void {
  for (const [engine, names] of Object.entries(OWN_FLAGS)) {
    const found = engine === flags.engine
      ? undefined
      : names.find((name) => flags[name] !== undefined);
    if (found !== undefined) {
      throw new UserError(
        `--${found} is for --engine ${engine}, and the engine is ${flags.engine}: leave it out`,
      );
    }
  }
  if (flags.engine === "kubernetes" && (flags.image === undefined || flags.claim === undefined)) {
    throw new UserError(
      "--engine kubernetes needs --image, with agentrl on its PATH, and --claim, the volume that holds the folder",
    );
  }
  if (flags.seed !== undefined) {
    throw new UserError(`--seed ${flags.seed} is not for a sweep: its file lists them under seeds`);
  }
  if ((flags.job === undefined) !== (flags.task === undefined)) {
    throw new UserError("--job and --task belong together: a scheduler's task is given both");
  }
}

/** The command `sweep`. */
export const command = defineCommand({
  flags: SWEEP_FLAGS,
  positionals: ["[status | cancel]", "[FILE]"],
  async run(flags, [first, second]): Promise<Outcome> {
    const isVerb = first === "status" || first === "cancel";
    const file = isVerb ? second : first;
    if (file === undefined) {
      throw new UserError(
        `FILE is missing: cli/agentrl sweep ${
          isVerb ? `${first} ` : ""
        }FILE takes a sweep's file or its folder`,
      );
    }
    if (!isVerb && second !== undefined) {
      throw new UserError(
        `unexpected argument "${second}": one file, or status or cancel before it, is allowed`,
      );
    }
    refuseOthers(flags);
    if (first === "status") {
      const { showStatus } = await import("../sweep/show_status.ts");
      return await showStatus(file, flags);
    }
    if (first === "cancel") {
      const { cancel } = await import("../sweep/show_status.ts");
      return await cancel(file, flags);
    }
    const { begin } = await import("../sweep/begin.ts");
    return await begin(file, flags);
  },
});
