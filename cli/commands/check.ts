/** `agentrl check`: the invariants of the trainer before any training, with a fault on purpose where one is named. */
import { wrapText } from "../../src/core/wrap_text.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { UserError } from "../../src/core/errors.ts";
import {
  FAULT_NAMES,
  faultConfig,
  type FaultName,
  faultyStages,
  isOfAnyEnvironment,
  MATRIX_FAULTS,
} from "../../src/faults/faults.ts";
import type { FaultChecks, MatrixData } from "../../src/diagnose/check_schema.ts";
import type { CheckVerdict } from "../../src/diagnose/invariant.ts";
import { violated } from "../../src/diagnose/invariants.ts";
import { runChecks } from "../../src/faults/trainer_checks.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { compileGym } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import { resolveConfig, type TrainConfig } from "../../src/rl/config.ts";
import { trainingSetup } from "../../src/rl/setup.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import { findCheckpoint } from "../../src/run/agent_file.ts";
import { SAMPLER_ENGINES } from "../../src/diagnose/tokens/engine_bounds.ts";
import { openForTraining } from "../../src/rl/environment_agent.ts";
import type { EpisodeSource } from "../../src/rollout/episode_source.ts";
import { requireSameEnvironment } from "../../src/run/environment_record.ts";
import { type Agent, agentOf, environmentAgentOf } from "../agent.ts";
import { CONFIG_FLAGS } from "../config_flags.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { ENVIRONMENT_FLAGS, openEnvironment } from "../environment_flag.ts";
import { formatTable } from "../flags.ts";
import { THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { formatColumns } from "../table.ts";

/** With a KL term, so that check 9 has something to look at. */
const KL_COEF = 0.1;

function describeChecks({ bug, checks }: FaultChecks): string {
  const table = formatColumns(
    [" ", "check", " value", " bound", "verdict"],
    checks.map(({ id, name, value, relation, bound, verdict }) => [
      String(id),
      name,
      value === null ? "-" : value.toPrecision(3),
      `${relation} ${bound}`,
      verdict,
    ]),
  );
  const notes = checks.filter(({ verdict }) => verdict !== "holds").map((
    { id, verdict, reason, relation, bound, boundReason },
  ) =>
    [
      String(id),
      verdict === "violated" ? `${reason} (bound ${relation} ${bound}: ${boundReason})` : reason,
    ] as const
  );
  const title = bug === "none" ? "The trainer" : `The trainer with the fault ${bug}`;
  const end = violated(checks).length === 0 ? ["Nothing is violated."] : [];
  return [title, "", ...table, "", ...formatTable(notes), ...end].join("\n");
}

/** A character per check: with a column for each the matrix would be wider than a terminal. */
const VERDICT_SIGNS = {
  holds: ".",
  violated: "X",
  "not-applicable": "-",
  "not-checkable": "?",
} as const satisfies Record<CheckVerdict, string>;

/** The checks of the published matrices, then the others. */
const SIGN_GROUPS = [(id: number) => id <= 11, (id: number) => id > 11] as const;

function describeMatrix(title: string, rows: readonly FaultChecks[]): string {
  const groups = SIGN_GROUPS.map((isIn) => (checks: FaultChecks["checks"]) =>
    checks.filter(({ id }) => isIn(id))
  );
  const header = groups.map((of) => {
    const ids = of(rows[0]?.checks ?? []).map(({ id }) => id);
    return `${ids[0]} to ${ids.at(-1)}`;
  });
  const table = formatColumns(
    ["fault", ...header, "caught by"],
    rows.map(({ bug, checks }) => [
      bug,
      ...groups.map((of) => of(checks).map(({ verdict }) => VERDICT_SIGNS[verdict]).join("")),
      violated(checks).map(({ id }) => id).join(" ") || "none",
    ]),
  );
  return [...wrapText(title, { columns: terminalColumns() }), "", ...table].join("\n");
}

/** Checks the trainer with each of the faults in turn. */
async function checkAll(
  faults: readonly (FaultName | undefined)[],
  options: {
    readonly commands: Commands;
    readonly agent: Agent;
    readonly source: EpisodeSource | undefined;
    readonly configOf: (fault: FaultName | undefined) => TrainConfig;
  },
): Promise<FaultChecks[]> {
  const { commands, agent: { config: model, weights_W }, source, configOf } = options;
  using progress = stderrProgress({ label: "check", total: faults.length, alreadyDone: 0 });
  const rows: FaultChecks[] = [];
  for (const fault of faults) {
    progress.update(rows.length, fault ?? "none");
    const setup = trainingSetup(commands, {
      config: configOf(fault),
      source,
      stages: faultyStages(fault),
    });
    const checks = await runChecks(setup, { model, weights_W });
    rows.push({ bug: fault ?? "none", checks });
  }
  progress.update(rows.length);
  return rows;
}

function matrixOutcome(all: readonly FaultChecks[]): Outcome {
  const count = 1 + MATRIX_FAULTS.length;
  const [rows, further] = [all.slice(0, count), all.slice(count)];
  const legend = all[0]?.checks.map(({ id, name }) => `  ${String(id).padStart(2)} ${name}`) ?? [];
  const text = [
    describeMatrix("The faults of the tutorial", rows),
    "",
    describeMatrix("More faults, and configurations that run correct code", further),
    "",
    ...wrapText("A character per check: . holds, X violated, - not applicable, ? not checkable.", {
      columns: terminalColumns(),
    }),
    "",
    ...legend,
  ].join("\n");
  const isSound = violated(rows[0]?.checks ?? []).length === 0;
  return {
    document: { rows, further } satisfies MatrixData,
    text,
    emphasis: [{ pattern: /(?<= [.X?-]*)X(?=[.X?-]* )/g, style: "red" }],
    exitCode: isSound ? 0 : 1,
  };
}

/** The command `check`. */
export const command = defineCommand({
  flags: {
    checkpoint: {
      kind: "string",
      help: "weights before the update: a safetensors file, or a run's folder, whose latest " +
        "checkpoint and gym are used (default: the base agent of the debugging runs)",
    },
    bug: { kind: "string", choices: FAULT_NAMES, help: "a planted fault" },
    matrix: {
      kind: "boolean",
      help: "every fault in turn; exit code 1 if the trainer without one fails",
    },
    tokens: {
      kind: "string",
      help: "a token dump of any trainer instead: only its checks; opens no device",
    },
    sampler: {
      kind: "string",
      choices: SAMPLER_ENGINES,
      help: "with --tokens: precision of the engine that sampled (default bf16)",
    },
    groupSize: { kind: "integer", min: 1, help: "with --tokens: completions per prompt" },
    ...CONFIG_FLAGS,
    ...ENVIRONMENT_FLAGS,
    ...GPU_FLAGS,
  },
  async run(flags, _positionals, machine = THIS_MACHINE) {
    const { checkpoint: named, bug, matrix, tokens, algo, set: sets, seed, requireGpu } = flags;
    if (tokens !== undefined) {
      if (named !== undefined || bug !== undefined || matrix) {
        throw new UserError("--tokens checks a dump: leave --checkpoint, --bug and --matrix out");
      }
      const { checkTokens } = await import("../check_tokens.ts");
      return await checkTokens(tokens, flags);
    }
    if (matrix && bug !== undefined) {
      throw new UserError("--matrix has a row for every fault: leave --bug out");
    }
    const found = named === undefined ? undefined : findCheckpoint(named);
    const { path: checkpoint, preset } = found ?? {};
    await using given = await openEnvironment(flags);
    const environment = given && await openForTraining(given.definition);
    const source = environment?.source;
    if (found !== undefined && (found.environment ?? found.preset) !== undefined) {
      const attempt = `Cannot check ${checkpoint}`;
      requireSameEnvironment(found.environment, { given: source, attempt });
    }
    const configOf = (fault: FaultName | undefined) =>
      resolveConfig({
        flags: { klCoef: KL_COEF, ...faultConfig(fault), algorithm: algo, seed },
        sets,
        environment: source,
        ...(preset && { suited: { preset } }),
      });
    configOf(bug); // Refuses bad values before anything is computed.
    const all = FAULT_NAMES.filter((fault) => source === undefined || isOfAnyEnvironment(fault));
    const faults = matrix ? [undefined, ...all] : [bug];
    const commands = await machine.openCommands({ requireGpu });
    const agent = environment === undefined
      ? await agentOf(checkpoint, { commands, gym: compileGym(openGym(), "rl") })
      : await environmentAgentOf(checkpoint, { commands, environment, seed });
    const rows = await checkAll(faults, { commands, agent, source, configOf });
    if (matrix) return matrixOutcome(rows);
    const [row = { bug: "none", checks: [] } satisfies FaultChecks] = rows;
    return {
      document: row,
      text: describeChecks(row),
      emphasis: [{ pattern: /\bviolated\b/g, style: "red" }],
      exitCode: violated(row.checks).length === 0 ? 0 : 1,
    };
  },
});
