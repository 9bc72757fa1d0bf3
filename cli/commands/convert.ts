/** `agentrl convert`: any log that is read, as JSONL; any token dump, as the common dump. */
import { writeFilePartsAtomic } from "../../src/files/atomic_file.ts";
import { requireOutput } from "../../src/files/output.ts";
import { contentOf } from "../../src/files/token_source.ts";
import { jsonlOf } from "../../src/logs/convert_rows.ts";
import type { RunLog } from "../../src/logs/run_log.ts";
import { interpret } from "../../src/producers/interpret.ts";
import { type Resemblance, resemblances } from "../../src/producers/suggest.ts";
import { defineCommand } from "../command.ts";
import { formatTable } from "../flags.ts";
import { LOG_POSITIONAL, READ_FLAGS, readLog } from "../read_log.ts";

/** Unknown keys that are shown; a log can have a hundred thousand. */
const MAX_SHOWN = 20;

function describeSteps({ rows: { steps } }: RunLog): string {
  const first = steps.reduce((a, b) => Math.min(a, b), Infinity);
  const last = steps.reduce((a, b) => Math.max(a, b), -Infinity);
  return `${first} to ${last}`;
}

function describeSeams({ seams }: RunLog): (readonly [string, string])[] {
  return seams.slice(0, MAX_SHOWN).map(({ lastStep, nextStep }) => [
    "restart",
    `at step ${nextStep}; the rows from there to step ${lastStep} come before the ones that replace them`,
  ]);
}

function describeResemblances(unknown: readonly string[], found: readonly Resemblance[]): string[] {
  if (unknown.length === 0) return [];
  const names = new Map(found.map(({ key, name }) => [key, name]));
  const rows = unknown.slice(0, MAX_SHOWN).map((key): readonly [string, string] => {
    const name = names.get(key);
    return [key, name === undefined ? "resembles none" : `--map ${key}=${name}, if it is that`];
  });
  const more = unknown.length > MAX_SHOWN ? [`  and ${unknown.length - MAX_SHOWN} more`] : [];
  return ["", "Unknown keys:", ...formatTable(rows), ...more];
}

/** Text of a log's own, in UTF-8, a piece at a time. */
function* encoded(pieces: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const piece of pieces) yield encoder.encode(piece);
}

/** The command `convert`. */
export const command = defineCommand({
  positionals: [LOG_POSITIONAL],
  flags: {
    out: { kind: "string", required: true, help: "the JSONL file, such as metrics.jsonl" },
    ...READ_FLAGS,
  },
  async run({ out, ...flags }, [path]) {
    const inputs = path === "-" ? [] : [path];
    requireOutput(out, { inputs });
    const { log: isLog, dump: isDump, opened } = await contentOf(path);
    if (isDump && !isLog) {
      const { convertDump } = await import("../convert_dump.ts");
      return await convertDump(path, { out, opened });
    }
    const log = await readLog(path, flags, { opened });
    const { source, rows, columns } = log;
    writeFilePartsAtomic(out, encoded(jsonlOf(log)));
    const view = interpret(log, { settings: {} });
    const found = resemblances(view);
    return {
      document: {
        out,
        source: { ...source, producer: view.producer?.id ?? null, rows: rows.count },
        keys: [...columns.keys()],
        restarts: log.seams.map(({ lastStep, nextStep }) => ({ lastStep, nextStep })),
        unknown: view.unknown,
        resemblances: found,
      },
      text: [
        ...formatTable([
          ["written", `${out}: ${rows.count} rows of ${columns.size} keys`],
          ["steps", describeSteps(log)],
          ["from", `${source.files.join(", ")} (${source.form})`],
          ["producer", view.producer?.id ?? "unknown"],
          ...describeSeams(log),
          ...source.ignored.map(({ what, count, example }) =>
            ["skipped", `${what}: ${count}, such as ${JSON.stringify(example)}`] as const
          ),
        ]),
        ...describeResemblances(view.unknown, found),
      ].join("\n"),
    };
  },
});
