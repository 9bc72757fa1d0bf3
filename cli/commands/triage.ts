/** `agentrl triage`: what is wrong with a run, whoever trained it, with evidence and what to do next. */
import { UserError } from "../../src/core/errors.ts";
import type { Finding } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { firstToAct } from "../../src/diagnose/findings/order.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import { isOwnRun } from "../../src/files/own_run.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { parseKeyMap } from "../../src/logs/rename_keys.ts";
import type { LogSettings } from "../../src/logs/run_log.ts";
import { interpret } from "../../src/producers/interpret.ts";
import type { RunView } from "../../src/producers/run_view.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { findingsText } from "../findings_text.ts";
import type { FlagValues } from "../flags.ts";
import { followLog } from "../follow_log.ts";

const FLAGS = {
  against: { kind: "string", help: "the log of a healthy run of yours, to compare with" },
  updatesPerBatch: { kind: "integer", min: 1, help: "optimizer steps on one batch of rollouts" },
  klCoef: { kind: "number", min: 0, help: "coefficient of the KL to the reference; 0: none" },
  groupSize: { kind: "integer", min: 1, help: "completions per prompt" },
  maxLength: { kind: "integer", min: 1, help: "the cap on a completion, in tokens" },
  plannedSteps: { kind: "integer", min: 1, help: "steps that the run was to make" },
  sampler: {
    kind: "string",
    choices: ["bf16", "fp8", "f32"],
    help: "precision of the engine that samples",
  },
  map: { kind: "list", help: "THEIRS=OURS: read the key THEIRS as if it were called OURS" },
  run: { kind: "string", help: "which run of a file that holds several" },
  all: { kind: "boolean", help: "everything: what holds, what was passed over, all alternatives" },
  strict: { kind: "boolean", help: "end with exit code 3 for a suspect, too" },
  follow: {
    kind: "boolean",
    help: "watch a growing log, and say each finding when it first holds",
  },
  until: {
    kind: "string",
    choices: ["violated", "suspect"],
    help: "with --follow: end with exit code 3 at the first finding of that class or a graver one",
  },
  measure: {
    kind: "string",
    help:
      "instead of a run: a folder with faults-seedS of `agentrl faults`; writes the confusion " +
      "matrix and the healthy reference of these runs into it",
  },
} as const;

type Values = FlagValues<typeof FLAGS>;

function settingsOf(flags: Values): LogSettings {
  const { updatesPerBatch, klCoef, groupSize, maxLength, plannedSteps, sampler } = flags;
  return {
    ...(updatesPerBatch !== undefined && { updatesPerBatch }),
    ...(klCoef !== undefined && { klCoef }),
    ...(groupSize !== undefined && { groupSize }),
    ...(maxLength !== undefined && { maxLength }),
    ...(plannedSteps !== undefined && { plannedSteps }),
    ...(sampler !== undefined && { sampler }),
  };
}

/** Files that are read in less than a moment need no bar. */
const WORTH_A_BAR_BYTES = 32 * 2 ** 20;

async function readView(path: string, flags: Values): Promise<RunView> {
  const { run, map } = flags;
  const settings = settingsOf(flags);
  let progress: ReturnType<typeof stderrProgress> | undefined;
  try {
    const log = await readRunLog(path, {
      run,
      map: parseKeyMap(map),
      onProgress: (readBytes, totalBytes) => {
        if (totalBytes === undefined || totalBytes < WORTH_A_BAR_BYTES) return;
        progress ??= stderrProgress({ label: "read", total: totalBytes, alreadyDone: 0 });
        progress.update(Math.min(readBytes, totalBytes));
      },
    });
    return interpret(log, { settings });
  } finally {
    progress?.[Symbol.dispose]();
  }
}

function documentOf(view: RunView, findings: readonly Finding[]) {
  const { log: { source, rows, seams }, producer, era, steps, understood, unknown, settings } =
    view;
  return {
    source: {
      path: source.path,
      form: source.form,
      files: source.files,
      producer: producer?.id ?? null,
      era: era?.id ?? null,
      rows: rows.count,
      steps: steps.length,
      firstStep: steps[0] ?? null,
      lastStep: steps[steps.length - 1] ?? null,
      restarts: seams.filter(({ axis }) => axis === 0).length,
      understood,
      unknown,
      ignored: source.ignored,
    },
    settings,
    first: firstToAct(findings)?.id ?? null,
    findings,
  };
}

async function judgePath(path: string, flags: Values) {
  const view = await readView(path, flags);
  const against = flags.against === undefined
    ? undefined
    : await readView(flags.against, { ...flags, run: undefined });
  const findings = judgeLog(view, { against });
  return { view, findings, document: documentOf(view, findings), files: view.log.source.files };
}

function isBad(findings: readonly Finding[], strict: boolean): boolean {
  return findings.some((finding) =>
    finding.class === "violated" || (strict && finding.class === "suspect")
  );
}

async function triageForeign(path: string, flags: Values): Promise<Outcome> {
  const { view, findings, document } = await judgePath(path, flags);
  const hasColours = Deno.stdout.isTerminal() && !Deno.noColor;
  return {
    document,
    text: findingsText(view, findings, { columns: terminalColumns(), hasColours, all: flags.all }),
    isStyled: true,
    ...(isBad(findings, flags.strict) ? { exitCode: 3 } : {}),
  };
}

/** The command `triage`. */
export const command = defineCommand({
  positionals: ["[PATH]"],
  flags: FLAGS,
  async run(flags, [path]) {
    const { measure: folder, follow, until } = flags;
    if (folder !== undefined) {
      if (path !== undefined) {
        throw new UserError("--measure looks at many runs: leave PATH out");
      }
      const { measureRuns } = await import("../triage_table.ts");
      return measureRuns(folder);
    }
    if (path === undefined) {
      throw new UserError(
        "PATH is missing: a run's folder, a log of any trainer, or - for standard input",
      );
    }
    if (until !== undefined && !follow) throw new UserError("--until belongs to --follow");
    if (follow) {
      if (path === "-") throw new UserError("--follow needs a file or a folder, not -");
      return await followLog({
        path,
        until,
        json: flags.json,
        judge: () => judgePath(path, flags),
      });
    }
    if (isOwnRun(path)) {
      const { triageOwnRun } = await import("../own_run.ts");
      return triageOwnRun(path, { strict: flags.strict });
    }
    return await triageForeign(path, flags);
  },
});
