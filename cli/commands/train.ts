/** `agentrl train`: a training run in a folder, begun or resumed. */
import { oneSentence } from "../../src/core/sentence.ts";
import { MAX_JSON_BYTES, readText } from "../../src/files/read_file.ts";
import { FAULT_NAMES, faultConfig, type FaultName } from "../../src/faults/faults.ts";
import type { MetricsRow } from "../../src/rl/metrics.ts";
import { type AlgorithmName, ALGORITHMS } from "../../src/rl/algorithms.ts";
import { CLONING } from "../../src/rl/base_agent.ts";
import { type ConfigSources, resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import { readAgent } from "../../src/run/agent_file.ts";
import { remark } from "../../src/files/terminal.ts";
import { type Progress, stderrProgress } from "../../src/files/progress.ts";
import { checkpointPath, openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import {
  baseName,
  baseSource,
  readSettings,
  resumeSettings,
  type RunSettings,
  writeSettings,
} from "../../src/run/run_settings.ts";
import { hasTensorboardLog, TensorboardLog } from "../../src/run/tensorboard_log.ts";
import { runTraining, type TrainingOptions } from "../../src/run/training_run.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { evaluateCommand, resumeCommand } from "../next_command.ts";
import { adapterName, openCommands } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { type StopCode, StopSignals } from "../stop_signals.ts";
import { formatInterval, formatRate } from "../stats_table.ts";

const ALGORITHM_NAMES = Object.keys(ALGORITHMS) as AlgorithmName[];

function readConfigFile(name: string | undefined): Pick<ConfigSources, "file"> {
  return name === undefined
    ? {}
    : { file: { name, text: readText(name, { maxBytes: MAX_JSON_BYTES }) } };
}

/** Settings of a fresh run. A base agent that cannot be read is refused before anything is written. */
function freshSettings(
  sources: ConfigSources,
  { base, bug }: { readonly base: string | undefined; readonly bug: FaultName | undefined },
): RunSettings {
  const config = resolveConfig(sources);
  const source = baseSource(base, config);
  if ("file" in source) readAgent(source.file);
  return { config, base: source, bug: bug ?? null, baseHash: null, adapter: null };
}

function describeEvaluation({ eval_pass, eval_pass_low = 0, eval_pass_high = 1 }: MetricsRow) {
  if (eval_pass === undefined) return undefined;
  const interval = formatInterval({ low: eval_pass_low, high: eval_pass_high });
  return `held-out pass ${formatRate(eval_pass)} (${interval})`;
}

function defaultPath({ algorithm, seed }: TrainConfig): string {
  return `runs/${algorithm}-seed${seed}`;
}

/** Shows each step, and each evaluation on a line that stays. */
function stepReporter(progress: Progress, startMs: number, startStep: number) {
  return (row: MetricsRow, stepsDone: number) => {
    const evaluation = describeEvaluation(row);
    if (evaluation !== undefined) progress.log(`step ${row.step}: ${evaluation}`);
    const perSecond = (stepsDone - startStep) / (performance.now() - startMs) * 1000;
    const { reward, pass_rate } = row;
    progress.update(
      stepsDone,
      `reward ${formatRate(reward)} pass ${formatRate(pass_rate)} ${perSecond.toFixed(1)} step/s`,
    );
  };
}

/** Runs with progress on stderr, and ends early where a signal asks for it. */
async function runShown(
  options: Pick<TrainingOptions, "commands" | "directory" | "settings" | "ignoreChecks">,
  { tensorboard, signals }: {
    readonly tensorboard: TensorboardLog | undefined;
    readonly signals: StopSignals;
  },
): Promise<Awaited<ReturnType<typeof runTraining>>> {
  const { steps } = options.settings.config;
  let progress: Progress | undefined;
  const show = (label: string, work: { total: number; alreadyDone: number }) => {
    progress?.[Symbol.dispose]();
    return progress = stderrProgress({ label, ...work });
  };
  let report: ReturnType<typeof stepReporter> | undefined;
  try {
    return await runTraining({
      ...options,
      rowLogs: tensorboard ? [tensorboard] : [],
      onRemark: (sentence) => remark(`agentrl train: ${oneSentence(sentence)}\n`),
      onCloned: (stepsDone) =>
        (progress ?? show("clone base", { total: CLONING.steps, alreadyDone: 0 })).update(
          stepsDone,
        ),
      onStart: (stepsDone) => {
        tensorboard?.begin(stepsDone);
        const bar = show("train", { total: steps, alreadyDone: stepsDone });
        report = stepReporter(bar, performance.now(), stepsDone);
        signals.saveFirst((line) => bar.log(line));
      },
      onStep: (row, stepsDone) => report?.(row, stepsDone),
      isStopRequested: () => signals.code !== undefined,
    });
  } finally {
    progress?.[Symbol.dispose]();
  }
}

/** What stands at the end, and the command to type next. */
function describeResult(
  { directoryPath, settings, result, stopCode }: {
    readonly directoryPath: string;
    readonly settings: RunSettings;
    readonly result: Awaited<ReturnType<typeof runTraining>>;
    readonly stopCode: StopCode | undefined;
  },
): Outcome {
  const { config, base, adapter } = settings;
  const { steps, weightsHash, last } = result;
  const checkpoint = checkpointPath(directoryPath, steps);
  const isStopped = steps < config.steps;
  const evaluation = last && describeEvaluation(last);
  const next = isStopped
    ? resumeCommand(directoryPath)
    : evaluateCommand(checkpoint, config.preset);
  const rows: (readonly [string, string])[] = [
    ["run", `${directoryPath}: ${config.algorithm}, seed ${config.seed}, base ${baseName(base)}`],
    ["steps", `${steps} of ${config.steps}${isStopped ? ", stopped" : ""}`],
    ...(last ? [["reward", `${formatRate(last.reward)} in step ${last.step}`] as const] : []),
    ...(evaluation ? [["evaluation", evaluation] as const] : []),
    ["weights", `${weightsHash.slice(0, 16)}… in ${checkpoint}`],
    ["adapter", adapter ?? "unknown"],
  ];
  return {
    document: { run: directoryPath, steps, weightsHash, last: last ?? null },
    // The command stands on a line of its own, however long, so that it can be copied.
    text: [...formatTable(rows), "", `${isStopped ? "Go on with" : "Next"}:`, `  ${next}`].join(
      "\n",
    ),
    ...(isStopped && stopCode !== undefined && { exitCode: stopCode }),
  };
}

/** The command `train`. */
export const command = defineCommand({
  flags: {
    algo: { kind: "string", choices: ALGORITHM_NAMES, help: "the algorithm, grpo when left out" },
    steps: {
      kind: "integer",
      min: 1,
      max: 1_000_000,
      help: "batches to learn from (default: 80 under reinforce, else 24)",
    },
    seed: {
      kind: "integer",
      min: 0,
      max: 2 ** 32 - 1,
      help: "seed of every random stream (default 0)",
    },
    config: { kind: "string", help: "JSON file with keys of the configuration" },
    set: { kind: "list", help: "key=value of the configuration, such as lr=0.001" },
    base: {
      kind: "string",
      help: "agent to start from: a checkpoint, or plain, rl, untrained, rl:SEED; " +
        "default: the one that suits the gym, cloned at the start",
    },
    bug: { kind: "string", choices: FAULT_NAMES, help: "a fault on purpose" },
    gate: { kind: "boolean", default: true, help: "begin although an invariant is violated" },
    out: { kind: "string", help: "the run's folder (default runs/ALGO-seedSEED)" },
    resume: {
      kind: "boolean",
      help: "go on with the run in --out, as far as --steps if that is given",
    },
    log: {
      kind: "string",
      choices: ["tensorboard"],
      help: "log for TensorBoard, too, in RUN/tensorboard; a run that is resumed keeps to it",
    },
    ...GPU_FLAGS,
  },
  async run(
    { algo, steps, seed, config: file, set: sets, base, bug, gate, out, resume, log, requireGpu },
  ) {
    const ofBug = resume ? {} : faultConfig(bug);
    const sources = {
      ...readConfigFile(file),
      flags: { ...ofBug, algorithm: algo, steps, seed },
      sets,
    };
    const fresh = resume ? undefined : freshSettings(sources, { base, bug });
    const path = out ?? defaultPath(fresh?.config ?? resolveConfig(sources));
    using signals = new StopSignals();
    // A run that goes on is locked before anything else; a new one leaves nothing where no device can be opened.
    using opened = new DisposableStack();
    const open = () => opened.use(openRunDirectory(path, { resume }));
    const resumed = resume ? open() : undefined;
    const stored = fresh ??
      resumeSettings(readSettings(runPaths(path).config), { sources, base, bug, path });
    const commands = await openCommands({ requireGpu });
    const adapter = adapterName(commands.gpu);
    if (stored.adapter !== null && stored.adapter !== adapter) {
      remark(
        `agentrl train: this run began on ${
          oneSentence(stored.adapter)
        }; on ${adapter} its numbers may differ by rounding\n`,
      );
    }
    const settings = { ...stored, adapter: stored.adapter ?? adapter };
    // No signal is heard between these two, so that the folder can be resumed or is not there.
    const directory = resumed ?? open();
    writeSettings(directory.config, settings);
    using tensorboard = log !== undefined || hasTensorboardLog(path)
      ? new TensorboardLog(path, { nowMs: Date.now })
      : undefined;
    const result = await runShown(
      { commands, directory, settings, ignoreChecks: !gate },
      { tensorboard, signals },
    );
    return describeResult({ directoryPath: path, settings, result, stopCode: signals.code });
  },
});
