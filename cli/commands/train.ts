/** `agentrl train`: a training run in a folder, begun or resumed. */
import { oneSentence } from "../../src/core/sentence.ts";
import { MAX_JSON_BYTES, readText } from "../../src/files/read_file.ts";
import { describeArithmetic, keepsBits } from "../../src/gpu/arithmetic.ts";
import type { Gpu } from "../../src/gpu/device.ts";
import { FAULT_NAMES, faultConfig, type FaultName } from "../../src/faults/faults.ts";
import type { MetricsRow } from "../../src/rl/metrics.ts";
import { CLONING } from "../../src/rl/base_agent.ts";
import { type OpenedEnvironment, openForTraining } from "../../src/rl/environment_agent.ts";
import { type ConfigSources, resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import type { StepReport } from "../../src/rl/trainer.ts";
import { formatTranscript } from "../../src/rollout/transcript.ts";
import { environmentRecord, requireSameEnvironment } from "../../src/run/environment_record.ts";
import { findCheckpoint, readAgent } from "../../src/run/agent_file.ts";
import { remark, terminalColumns } from "../../src/files/terminal.ts";
import { type Progress, stderrProgress } from "../../src/files/progress.ts";
import { checkpointPath, openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import {
  baseName,
  baseSource,
  isBaseKind,
  readSettings,
  resumeSettings,
  type RunSettings,
  writeSettings,
} from "../../src/run/run_settings.ts";
import { hasTensorboardLog, TensorboardLog } from "../../src/run/tensorboard_log.ts";
import { runTraining, type TrainingOptions } from "../../src/run/training_run.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { CONFIG_FLAGS } from "../config_flags.ts";
import { formatTable } from "../flags.ts";
import { lookCommands, resumeCommand } from "../next_command.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { thisStart } from "../this_start.ts";
import { ENVIRONMENT_FLAGS, type GivenEnvironment, openEnvironment } from "../environment_flag.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { type StopCode, StopSignals } from "../stop_signals.ts";
import { formatInterval, formatRate } from "../stats_table.ts";

function readConfigFile(name: string | undefined): Pick<ConfigSources, "file"> {
  return name === undefined
    ? {}
    : { file: { name, text: readText(name, { maxBytes: MAX_JSON_BYTES }) } };
}

/** Settings of a fresh run. A base agent that cannot be read is refused before anything is written. */
function freshSettings(
  sources: ConfigSources,
  { base, bug, environment, given }: {
    readonly base: string | undefined;
    readonly bug: FaultName | undefined;
    readonly environment: OpenedEnvironment | undefined;
    readonly given: GivenEnvironment | undefined;
  },
): RunSettings {
  const config = resolveConfig(sources);
  const { name, demonstration } = environment?.definition ?? {};
  const source = baseSource(base, {
    ...config,
    ...(name && { environment: { name, hasDemonstrations: demonstration !== undefined } }),
  });
  if ("file" in source) readAgent(source.file, environment?.source);
  return {
    config,
    base: source,
    bug: bug ?? null,
    ...(environment && given && {
      environment: environmentRecord(environment.source, given.settings),
    }),
    baseHash: null,
    adapter: null,
    starts: [],
  };
}

function describeEvaluation({ eval_pass, eval_pass_low = 0, eval_pass_high = 1 }: MetricsRow) {
  if (eval_pass === undefined) return undefined;
  const interval = formatInterval({ low: eval_pass_low, high: eval_pass_high });
  return `held-out pass ${formatRate(eval_pass)} (${interval})`;
}

function defaultPath({ algorithm, seed }: TrainConfig, environment: string | undefined): string {
  return `runs/${environment === undefined ? "" : `${environment}-`}${algorithm}-seed${seed}`;
}

/** The adapter that a run began on, which is this one where none has been, and what it does as far as that is known. */
function adapterOfRun(stored: RunSettings, gpu: Gpu): Pick<RunSettings, "adapter" | "arithmetic"> {
  const here = adapterName(gpu);
  const adapter = stored.adapter ?? here;
  const arithmetic = stored.arithmetic ?? (adapter === here ? gpu.arithmetic.known : undefined);
  return { adapter, ...(arithmetic && { arithmetic }) };
}

/** Where two kernels may round differently, nobody should wonder about a gap that is not 0. */
function warnOfRounding(gpu: Gpu): void {
  const { known } = gpu.arithmetic;
  if (known === undefined || keepsBits(known)) return;
  remark(
    `agentrl train: on ${
      adapterName(gpu)
    } sampler and trainer may differ by rounding, and logp_gap says by how much ` +
      `(${describeArithmetic(known)})\n`,
  );
}

/** Shows each step, and each evaluation on a line that stays. */
function stepReporter(progress: Progress, startMs: number, startStep: number) {
  return (row: MetricsRow) => {
    const stepsDone = row.step + 1;
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

/** How a run stands, with the last step of this start: undefined where it made none. */
type ShownResult = Awaited<ReturnType<typeof runTraining>> & {
  readonly lastStep: StepReport | undefined;
};

/** Runs with progress on stderr, and ends early where a signal asks for it. */
async function runShown(
  options: Pick<
    TrainingOptions,
    "commands" | "directory" | "settings" | "ignoreChecks" | "environment"
  >,
  { tensorboard, signals }: {
    readonly tensorboard: TensorboardLog | undefined;
    readonly signals: StopSignals;
  },
): Promise<ShownResult> {
  const { steps } = options.settings.config;
  let progress: Progress | undefined;
  const show = (label: string, work: { total: number; alreadyDone: number }) => {
    progress?.[Symbol.dispose]();
    return progress = stderrProgress({ label, ...work });
  };
  let report: ReturnType<typeof stepReporter> | undefined;
  let lastStep: StepReport | undefined;
  try {
    const result = await runTraining({
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
      onStep: (row, step) => {
        lastStep = step;
        report?.(row);
      },
      isStopRequested: () => signals.code !== undefined,
    });
    return { ...result, lastStep };
  } finally {
    progress?.[Symbol.dispose]();
  }
}

/** An episode of the last step: what the agent does by now. */
function lastTranscript(
  { step, batch: { trajectories } }: StepReport,
  words: readonly string[] | undefined,
): string[] {
  const [episode] = trajectories;
  if (episode === undefined) return [];
  const title = `An episode of step ${step}, ${episode.info.task}`;
  return formatTranscript(episode, title, { columns: terminalColumns(), words });
}

/** What stands at the end, and the commands to type next. */
function describeResult(
  { directoryPath, settings, result, stopCode }: {
    readonly directoryPath: string;
    readonly settings: RunSettings;
    readonly result: ShownResult;
    readonly stopCode: StopCode | undefined;
  },
): Outcome {
  const { config, base, adapter, environment } = settings;
  const { steps, weightsHash, last, lastStep } = result;
  const checkpoint = checkpointPath(directoryPath, steps);
  const isStopped = steps < config.steps;
  const evaluation = last && describeEvaluation(last);
  const next = isStopped ? [resumeCommand(directoryPath, environment?.settings)] : lookCommands(
    directoryPath,
    environment && {
      settings: environment.settings,
      hasHeldout: environment.tasks.heldout > 0,
    },
  );
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
    // Each command stands on a line of its own, however long, so that it can be copied.
    text: [
      ...formatTable(rows),
      ...(isStopped || lastStep === undefined
        ? []
        : ["", ...lastTranscript(lastStep, environment?.words)]),
      "",
      `${isStopped ? "Continue with" : "Next"}:`,
      ...next.map((line) => `  ${line}`),
    ].join("\n"),
    ...(isStopped && stopCode !== undefined && { exitCode: stopCode }),
  };
}

/** The command `train`. */
export const command = defineCommand({
  flags: {
    ...CONFIG_FLAGS,
    steps: {
      kind: "integer",
      min: 1,
      max: 1_000_000,
      help: "batches to train on (default 80 under reinforce, 24 otherwise)",
    },
    seed: {
      kind: "integer",
      min: 0,
      max: 2 ** 32 - 1,
      help: "seed of every random stream (default 0)",
    },
    config: { kind: "string", help: "JSON file with keys of the configuration" },
    base: {
      kind: "string",
      help: "agent to start from: plain, rl, untrained, rl:SEED, a safetensors file, or a run's " +
        "folder, whose latest checkpoint and gym are used (default: the kind that suits the gym, " +
        "cloned at the start)",
    },
    bug: { kind: "string", choices: FAULT_NAMES, help: "a planted fault" },
    gate: { kind: "boolean", default: true, help: "start even if an invariant is violated" },
    out: { kind: "string", help: "the run's folder (default runs/ALGO-seedSEED)" },
    resume: {
      kind: "boolean",
      help: "continue the run in --out, up to --steps if that is given",
    },
    log: {
      kind: "string",
      choices: ["tensorboard"],
      help: "also log for TensorBoard, in RUN/tensorboard; a resumed run keeps doing so",
    },
    ...ENVIRONMENT_FLAGS,
    ...GPU_FLAGS,
  },
  async run(
    {
      algo,
      steps,
      seed,
      config: file,
      set: sets,
      base: named,
      bug,
      gate,
      out,
      resume,
      log,
      ...flags
    },
    _positionals,
    machine = THIS_MACHINE,
  ) {
    const found = named === undefined || isBaseKind(named) ? undefined : findCheckpoint(named);
    const base = found?.path ?? named;
    await using given = await openEnvironment(flags);
    const environment = given && await openForTraining(given.definition);
    const ofBug = resume ? {} : faultConfig(bug);
    const sources = {
      ...readConfigFile(file),
      flags: { ...ofBug, algorithm: algo, steps, seed },
      sets,
      ...(found?.preset && { suited: { preset: found.preset } }),
      environment: environment?.source,
    };
    const fresh = resume ? undefined : freshSettings(sources, { base, bug, environment, given });
    const path = out ??
      defaultPath(fresh?.config ?? resolveConfig(sources), environment?.source.name);
    using signals = new StopSignals();
    // A run that goes on is locked before anything else; a new one leaves nothing where no device can be opened.
    using opened = new DisposableStack();
    const open = () => opened.use(openRunDirectory(path, { resume }));
    const resumed = resume ? open() : undefined;
    const stored = fresh ??
      resumeSettings(readSettings(runPaths(path).config), { sources, base, bug, path });
    requireSameEnvironment(stored.environment, {
      given: environment?.source,
      attempt: `Cannot train in ${path}`,
    });
    const commands = await machine.openCommands(flags);
    const adapter = adapterName(commands.gpu);
    if (stored.adapter !== null && stored.adapter !== adapter) {
      remark(
        `agentrl train: this run began on ${
          oneSentence(stored.adapter)
        }; on ${adapter} its numbers may differ by rounding\n`,
      );
    }
    warnOfRounding(commands.gpu);
    const starts = [...stored.starts, thisStart()];
    const settings = { ...stored, ...adapterOfRun(stored, commands.gpu), starts };
    // No signal is heard between these two, so that the folder can be resumed or is not there.
    const directory = resumed ?? open();
    writeSettings(directory.config, settings);
    using tensorboard = log !== undefined || hasTensorboardLog(path)
      ? new TensorboardLog(path, { nowMs: Date.now })
      : undefined;
    const result = await runShown(
      { commands, directory, settings, environment, ignoreChecks: !gate },
      { tensorboard, signals },
    );
    return describeResult({ directoryPath: path, settings, result, stopCode: signals.code });
  },
});
