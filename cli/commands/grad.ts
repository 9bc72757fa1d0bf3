/** `agentrl grad`: a loss over a batch file, its gradient, and the weights after Adam steps on it. */
import { largest } from "../../src/core/statistics.ts";
import { UserError } from "../../src/core/errors.ts";
import { Learner } from "../../src/model/learner.ts";
import { createParameters, readParameters, toTensors } from "../../src/model/parameters.ts";
import { accumulateGradient, type GradientResult, takeAdamSteps } from "../../src/rl/gradient.ts";
import {
  LOSS_NAMES,
  NAMED_LOSSES,
  namedLossTask,
  requiredGrids,
} from "../../src/rl/named_losses.ts";
import { packBatchFile, readBatchFile, requireGrids } from "../../src/run/batch_file.ts";
import { findCheckpoint } from "../../src/run/agent_file.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { requireOutput } from "../../src/files/output.ts";
import { writeTensorFile } from "../../src/files/tensor_file.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, formatNumber, THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { unverifiedRows } from "../verified.ts";

/** Tokens that are computed at once; a larger batch is cut between episodes and its gradients are added. */
const CAPACITY = 4096;

const ADAM_DEFAULTS = { lr: 1e-3, maxGradNorm: 1 } as const;

/** A flag without an effect is a mistake of the user's that would otherwise go unseen. */
function refuseIdleFlags(flags: {
  readonly loss: string;
  readonly normConst: number | undefined;
  readonly adamSteps: number;
  readonly lr: number | undefined;
  readonly maxGradNorm: number | undefined;
}): void {
  const { loss, normConst, adamSteps, lr, maxGradNorm } = flags;
  const needsConstant = loss === "reinforce_constant";
  if (needsConstant && normConst === undefined) {
    throw new UserError(`--loss ${loss} needs --norm-const, by which it divides the sum`);
  }
  if (!needsConstant && normConst !== undefined) {
    throw new UserError(`--norm-const has no effect on --loss ${loss}; leave it out`);
  }
  if (adamSteps === 0 && (lr !== undefined || maxGradNorm !== undefined)) {
    throw new UserError("--lr and --max-grad-norm have no effect without --adam-steps");
  }
}

/** Refuses to write numbers that are none. */
function requireFinite({ loss, gradNorm }: GradientResult, when: string): void {
  if (Number.isFinite(loss) && Number.isFinite(gradNorm)) return;
  throw new UserError(
    `The loss ${when} is ${loss} and the norm of its gradient ${gradNorm}: these weights or ` +
      "log-probs overflow f32; nothing was written",
    1,
  );
}

/** The command `grad`. */
export const command = defineCommand({
  flags: {
    checkpoint: {
      kind: "string",
      required: true,
      help: "weights: a safetensors file, or a run's folder, whose latest checkpoint is used",
    },
    batch: {
      kind: "string",
      required: true,
      help: "episodes, with advantages and log-probs if the loss reads them",
    },
    loss: { kind: "string", required: true, choices: LOSS_NAMES, help: "which loss" },
    out: {
      kind: "string",
      required: true,
      help: "file to write the gradient to, under the parameters' names",
    },
    normConst: { kind: "number", min: 1e-9, help: "divisor of reinforce_constant" },
    adamSteps: {
      kind: "integer",
      default: 0,
      min: 0,
      max: 1000,
      help: "steps to take; the weights after them are written as stepped/NAME",
    },
    lr: { kind: "number", min: 0, max: 10, help: "Adam's step size (default 0.001)" },
    maxGradNorm: {
      kind: "number",
      min: 0,
      help: "the norm that the gradient is clipped to (default 1)",
    },
    ...GPU_FLAGS,
  },
  async run(flags, _positionals, machine = THIS_MACHINE) {
    refuseIdleFlags(flags);
    const { path: checkpoint } = findCheckpoint(flags.checkpoint);
    requireOutput(flags.out, { inputs: [checkpoint, flags.batch] });
    const { config, weights_W, isVerified } = readCheckpoint(checkpoint);
    const loss = NAMED_LOSSES[flags.loss];
    const grids = readBatchFile(flags.batch, config);
    requireGrids(grids, { grids: requiredGrids(loss), lossName: flags.loss });
    const batch = packBatchFile(grids, config);
    const task = namedLossTask(batch, { loss, grids, normConst: flags.normConst });

    const commands = await machine.openCommands(flags);
    const parameters = createParameters(commands, config, weights_W);
    const maxPositions = largest(batch.length_B);
    const capacity = Math.max(maxPositions, Math.min(batch.rowCount, CAPACITY));
    const learner = new Learner(commands, parameters, { capacity, maxPositions });
    const result = await accumulateGradient(learner, task);
    requireFinite(result, `of ${flags.batch}`);
    const tensors = toTensors(config, await learner.readGradient());
    const steps = await takeAdamSteps(learner, task, {
      stepCount: flags.adamSteps,
      learningRate: flags.lr ?? ADAM_DEFAULTS.lr,
      maxNorm: flags.maxGradNorm ?? ADAM_DEFAULTS.maxGradNorm,
    });
    steps.forEach((step, i) => requireFinite(step, `before step ${i + 1}`));
    if (steps.length > 0) {
      const stepped_W = await readParameters(commands, parameters);
      toTensors(config, stepped_W, "stepped/").forEach((tensor, name) => tensors.set(name, tensor));
    }
    writeTensorFile(flags.out, { tensors, metadata: { loss: flags.loss } });
    const written = `the gradient${steps.length > 0 ? " and the stepped weights" : ""}`;
    const rows: (readonly [string, string])[] = [
      ["loss", `${formatNumber(result.loss)} (${flags.loss})`],
      ["gradient norm", formatNumber(result.gradNorm)],
      ...steps.map(({ loss, gradNorm }, i) =>
        [
          `before step ${i + 1}`,
          `loss ${formatNumber(loss)}, gradient norm ${formatNumber(gradNorm)}`,
        ] as const
      ),
      ["adapter", adapterName(commands.gpu)],
      ...unverifiedRows([{ path: checkpoint, isVerified }, grids]),
      ["wrote", `${written} to ${flags.out}`],
    ];
    return {
      document: { ...result, ...(steps.length > 0 && { steps }) },
      text: formatTable(rows).join("\n"),
    };
  },
});
