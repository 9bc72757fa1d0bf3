/** `agentrl triage`: what is wrong with a run, whoever trained it, with evidence and what to do next. */
import { UserError } from "../../src/core/errors.ts";
import { type SaidFinding, sayFinding, speakAgainst } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { firstToAct, orderFindings } from "../../src/diagnose/findings/order.ts";
import type { OpenedLog } from "../../src/files/log_input.ts";
import { isOwnRun } from "../../src/files/own_run.ts";
import { isFolder } from "../../src/files/paths.ts";
import { hasColours, terminalColumns } from "../../src/files/terminal.ts";
import { contentOf, type PathContent } from "../../src/files/token_source.ts";
import type { RunView } from "../../src/producers/run_view.ts";
import { resemblances } from "../../src/producers/suggest.ts";
import { isSweepFolder, sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { findingsText, type Layout, logSubject } from "../findings_text.ts";
import type { FlagValues } from "../flags.ts";
import { followLog } from "../follow_log.ts";
import { COMMAND_WORDS } from "../next_command.ts";
import {
  bothSubjects,
  dumpDocument,
  dumpSourceDocument,
  dumpSubject,
  judgeDump,
} from "../read_dump.ts";
import { JUDGE_FLAGS, readAgainst, readView } from "../read_log.ts";

const FLAGS = {
  ...JUDGE_FLAGS,
  all: {
    kind: "boolean",
    help: "show everything: what holds, what was skipped, every alternative",
  },
  strict: { kind: "boolean", help: "exit with code 3 for a suspect as well" },
  follow: {
    kind: "boolean",
    help: "watch a growing log and report each finding when it first appears",
  },
  until: {
    kind: "string",
    choices: ["violated", "suspect"],
    help:
      "with --follow: exit with code 3 at the first finding of that class or a more serious one",
  },
  measure: {
    kind: "string",
    help:
      "instead of a run: a folder with faults-seedS of `agentrl faults`; writes the confusion " +
      "matrix and the healthy reference of these runs into it",
  },
} as const;

type Values = FlagValues<typeof FLAGS>;

function documentOf(view: RunView, findings: readonly SaidFinding[]) {
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
    suggestions: resemblances(view),
    first: firstToAct(findings)?.id ?? null,
    findings,
  };
}

async function judgePath(path: string, flags: Values, opened?: OpenedLog) {
  const view = await readView(path, flags, { opened });
  const against = await readAgainst(flags);
  const findings = judgeLog(view, { against }).map((found) => sayFinding(found, COMMAND_WORDS));
  return { view, findings, document: documentOf(view, findings), files: view.log.source.files };
}

function layoutOf({ all }: Values): Layout {
  return { columns: terminalColumns(), hasColours: hasColours(), all };
}

async function triageDump(
  path: string,
  flags: Values,
  { opened }: PathContent,
): Promise<Outcome> {
  const dump = await judgeDump(path, flags, { opened });
  const layout = layoutOf(flags);
  return {
    document: dumpDocument(dump),
    text: findingsText(dumpSubject(dump, layout), dump.findings, layout),
    isStyled: true,
    ...(speakAgainst(dump.findings, flags) ? { exitCode: 3 } : {}),
  };
}

/** A log, and the dump beside it where there is one. */
async function triageLog(
  path: string,
  flags: Values,
  { dump: hasDump, opened }: PathContent,
): Promise<Outcome> {
  const { view, findings: said, document } = await judgePath(path, flags, opened);
  // Standard input is one of the two.
  const dump = hasDump && !opened ? await judgeDump(path, flags) : undefined;
  const findings = dump ? orderFindings([...said, ...dump.findings]) : said;
  const layout = layoutOf(flags);
  const log = logSubject(view, said, layout);
  return {
    document: dump
      ? {
        ...document,
        dump: dumpSourceDocument(dump),
        first: firstToAct(findings)?.id ?? null,
        findings,
      }
      : document,
    text: findingsText(dump ? bothSubjects(log, dumpSubject(dump, layout)) : log, findings, layout),
    isStyled: true,
    ...(speakAgainst(findings, flags) ? { exitCode: 3 } : {}),
  };
}

/** What another trainer left: a log, a token dump, or both. */
async function triageForeign(path: string, flags: Values): Promise<Outcome> {
  const content = await contentOf(path);
  return content.dump && !content.log
    ? await triageDump(path, flags, content)
    : await triageLog(path, flags, content);
}

/** Refuses what is many runs: episodes of several, taken for those of one, have findings that none of them has. */
async function refuseManyRuns(path: string): Promise<void> {
  if (isSweepFolder(path)) {
    throw new UserError(
      `Cannot judge ${path}: it is a sweep; name one of the runs in ${
        sweepPaths(path).runs
      }, or compare the sweep, which counts the findings of all`,
    );
  }
  if (!isFolder(path)) return;
  const { ownRunsIn } = await import("../../src/report/files/runs_to_compare.ts");
  const runs = ownRunsIn(path);
  if (runs.length > 1) {
    throw new UserError(
      `Cannot judge ${path}: it holds ${runs.length} runs; name one of them, such as ${runs[0]}`,
    );
  }
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
        "PATH is missing: a run's folder, a log or a token dump of any trainer, or - for standard input",
      );
    }
    await refuseManyRuns(path);
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
      return await triageOwnRun(path, flags);
    }
    return await triageForeign(path, flags);
  },
});
