/** `agentrl lab`: the experiments, each beside the numbers that it reproduces. */
import { withDigits } from "../../src/core/digits.ts";
import { escapeControls } from "../../src/core/sentence.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import denoConfig from "../../deno.json" with { type: "json" };
import { EXPERIMENTS } from "../../src/lab/experiments.ts";
import type { Cell, LabCheck, ResultTable } from "../../src/lab/experiment.ts";
import { type LabProgress, type LabRecord, runLab, selectExperiments } from "../../src/lab/lab.ts";
import { readContent } from "../../src/report/files/content.ts";
import { LIVE_NAME, requireReportPlace, writeReport } from "../../src/report/files/write_report.ts";
import { formatDuration, stderrProgress } from "../../src/files/progress.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { LIVE_FAULT, LIVE_STEPS, prepareLive, writeLive } from "../live_page.ts";
import { formatColumns } from "../table.ts";
import { mentionWords } from "../words.ts";

/** Four digits: as many as the tutorial prints. */
function formatCell(cell: Cell): string {
  if (cell === null) return "-";
  return typeof cell === "number" ? withDigits(cell, 4) : cell;
}

function tableLines({ title, columns, rows }: ResultTable): string[] {
  const header = columns.map((column, i) => {
    const isText = rows.some((row) => typeof row[i] === "string" && !/^[-\d.]+$/.test(row[i]));
    return isText ? column : ` ${column}`;
  });
  const cells = rows.map((row) => row.map(formatCell));
  return ["", ...wrapped(`  ${title}:`, 4), ...formatColumns(header, cells, { indent: 4 })];
}

/** Breaks a line at words; what follows stands under column `hanging`. */
function wrapped(line: string, hanging: number): string[] {
  return wrapText(escapeControls(line), { columns: terminalColumns(), hanging });
}

function checkLine({ requirement, value, holds }: LabCheck): string {
  return `  ${holds ? "holds" : "FAILS"}  ${requirement} (${formatCell(value)})`;
}

function recordLines(record: LabRecord): string[] {
  const { experiment, variant, quick, title, shows, tables, checks } = record;
  const marks = [variant === null ? "" : `variant ${variant}`, quick ? "quick: smaller sizes" : ""];
  const marked = marks.filter((mark) => mark !== "").map((mark) => ` [${mark}]`).join("");
  return [
    `${experiment}${marked}`,
    ...wrapped(`  ${title}`, 2),
    ...wrapped(`  ${shows}`, 2),
    ...tables.flatMap(tableLines),
    "",
    ...checks.flatMap((check) => wrapped(checkLine(check), "  holds  ".length)),
    "",
  ];
}

function verdict({ checks }: LabRecord): string {
  const held = checks.filter(({ holds }) => holds).length;
  return checks.length === 0 ? "no checks" : `${held} of ${checks.length} checks hold`;
}

/** What holds in all, what fails, and how much that says. */
function summaryLines(records: readonly LabRecord[], { quick }: { readonly quick: boolean }) {
  const all = records.flatMap(({ experiment, checks }) =>
    checks.map((check) => ({ experiment, check }))
  );
  const failed = all.filter(({ check }) => !check.holds);
  const spent = formatDuration(records.reduce((sum, { durationMs }) => sum + durationMs, 0));
  const names = [...new Set(failed.map(({ experiment }) => experiment))];
  const reason = quick
    ? "A quick run has fewer episodes, seeds and steps, so its means scatter more than the " +
      `bounds allow for. In full size: cli/agentrl lab ${names.join(" ")}`
    : "";
  return [
    ...wrapped(
      `In all: ${all.length - failed.length} of ${all.length} checks hold in ` +
        `${records.length} experiments, ${spent} of work` +
        (failed.length === 0 ? "." : `; ${failed.length} failed:`),
      0,
    ),
    ...failed.flatMap(({ experiment, check: { requirement, value } }) =>
      wrapped(`  FAILS  ${experiment}: ${requirement} (${formatCell(value)})`, "  FAILS  ".length)
    ),
    ...(failed.length > 0 && quick ? wrapped(reason, 0) : []),
    "",
  ];
}

function progressNote({ name, note, remaining }: LabProgress): string {
  const next = remaining.length === 0 ? "the last one" : `then ${remaining.join(", ")}`;
  return `${name}${note === "" ? "" : `: ${note}`} | ${next}`;
}

/** The command `lab`. */
export const command = defineCommand({
  flags: {
    ...GPU_FLAGS,
    quick: { kind: "boolean", help: "smaller sizes, for a quick first look" },
    variant: {
      kind: "string",
      help: "one changed assumption; without names, every experiment that has it",
    },
    out: { kind: "string", default: "runs/lab", help: "folder for the results" },
    fresh: { kind: "boolean", help: "rerun finished experiments as well" },
    live: {
      kind: "boolean",
      help: "also write live.html, a page that trains (command live); the report links to it",
    },
    list: { kind: "boolean", help: "list the experiments and their variants" },
  },
  positionals: ["[EXPERIMENT…]"],
  choices: EXPERIMENTS.map(({ name }) => name),
  async run(flags, names, machine = THIS_MACHINE) {
    const { quick, variant, out, fresh, seed } = flags;
    const experiments = selectExperiments(EXPERIMENTS, names, variant);
    if (flags.list) {
      const rows = experiments.flatMap(({ name, title, variants }) => [
        [name, title] as const,
        ...Object.entries(variants).map(([key, text]) => [`  ${key}`, text] as const),
      ]);
      const document = experiments.map(({ name, title, variants }) => ({ name, title, variants }));
      return { document, text: formatTable(rows).join("\n") };
    }
    const report = `${out}/report.html`;
    const live = flags.live ? `${out}/${LIVE_NAME}` : undefined;
    // Before the work, not after minutes of it.
    requireReportPlace(report);
    if (live !== undefined) await prepareLive(live);
    const commands = await machine.openCommands(flags);
    const adapter = adapterName(commands.gpu);
    using progress = stderrProgress({ label: "lab %", total: 100, alreadyDone: 0 });
    const records = await runLab({
      experiments,
      commands,
      identity: { seed, quick, version: denoConfig.version, adapter },
      variant,
      out,
      fresh,
      onProgress: (state) => progress.update(Math.floor(100 * state.share), progressNote(state)),
      onRecord: (record, isNew) =>
        progress.log(
          `${record.experiment}: ${verdict(record)}` +
            (isNew ? ` (${formatDuration(record.durationMs)})` : `, from ${out}`),
        ),
    });
    if (live !== undefined) {
      await writeLive(live, { commands, settings: { fault: LIVE_FAULT, seed, steps: LIVE_STEPS } });
    }
    await writeReport(report, await readContent([out]), { words: mentionWords });
    // What is smaller than the tutorial's sizes may miss its numbers by chance.
    const failed = !quick && records.some(({ checks }) => checks.some(({ holds }) => !holds));
    const text = [
      ...records.flatMap(recordLines),
      ...summaryLines(records, { quick }),
      ...wrapped(`adapter: ${adapter}; seed ${seed}; results in ${out}`, 2),
      `report: ${report}`,
      ...(live === undefined ? [] : [`live: ${live}`]),
    ];
    return {
      document: {
        seed,
        quick,
        adapter,
        out,
        report,
        ...(live !== undefined && { live }),
        experiments: records,
      },
      text: text.join("\n"),
      emphasis: [{ pattern: /^ {2}FAILS\b/gm, style: "red" }],
      exitCode: failed ? 1 : 0,
    };
  },
});
