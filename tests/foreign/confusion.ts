/**
 * What `agentrl triage` says of known runs when it sees nothing but another framework's log of them: writes
 * docs/triage_of_logs.md. The runs are made with the commands that the page names.
 */
import { markdownTable } from "../../src/core/markdown_table.ts";
import type { Finding } from "../../src/diagnose/finding.ts";
import { CATALOGUE_NAMES } from "../../src/faults/catalogue.ts";
import { readMetricsRows } from "../../src/run/metrics_rows.ts";
import { exists } from "../../src/files/paths.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { judgeText } from "./judge_text.ts";
import { type RunFacts, WRITERS } from "./writers.ts";

const HEADER = [
  "# What triage says from another framework's log",
  "",
  "Runs whose truth is known, written as TRL, verl and prime-rl would have logged them",
  "(`tests/foreign/writers.ts`), and judged by `agentrl triage` from that log alone. With each log the",
  "flags say what a user knows: `--updates-per-batch`, `--kl-coef` and `--sampler f32`.",
  "",
  "    for seed in 0 1 2; do cli/agentrl faults --seed $seed --out runs/faults-$seed; done",
  "    for seed in 3 4 5 6 7 8 9; do cli/agentrl faults healthy --seed $seed --out runs/faults-$seed; done",
  "    tests/foreign/healthy_variants.sh runs",
  "    deno run -A tests/foreign/confusion.ts runs > docs/triage_of_logs.md",
  "    deno fmt docs/triage_of_logs.md",
  "",
  "regenerates these tables. A number in brackets counts the runs of which it was said. Not everything",
  "shows in a log: a wrong divisor, groups that were mixed up or a mask that leaves out a token look like",
  "a healthy run there. Such faults need the trainer's invariants (`agentrl check`).",
].join("\n");

type Framework = keyof typeof WRITERS;

const FRAMEWORKS = Object.keys(WRITERS) as Framework[];

interface KnownRun {
  /** What it is an example of. */
  readonly name: string;
  readonly path: string;
}

/** The folders of `agentrl faults`, and healthy runs of other settings as NAME-SEED. */
function knownRuns(folder: string): KnownRun[] {
  const inside = Array.from(Deno.readDirSync(folder), ({ name }) => name).sort();
  return inside.flatMap((name): KnownRun[] => {
    const path = `${folder}/${name}`;
    if (/^faults-\d+$/.test(name)) {
      return CATALOGUE_NAMES.filter((run) => exists(runPaths(`${path}/${run}`).metrics))
        .map((run) => ({ name: run, path: `${path}/${run}` }));
    }
    const [, variant] = /^(.+)-\d+$/.exec(name) ?? [];
    return variant !== undefined && exists(runPaths(path).metrics) ? [{ name: variant, path }] : [];
  });
}

async function judgeRun(path: string): Promise<Record<Framework, readonly Finding[]>> {
  const { config } = readSettings(runPaths(path).config);
  const rows = readMetricsRows(runPaths(path).metrics);
  const facts: RunFacts = {
    lr: config.lr,
    klCoef: config.klCoef,
    updatesPerBatch: config.epochs * config.minibatches,
    plannedSteps: config.steps,
  };
  const { updatesPerBatch, klCoef } = facts;
  const settings = { updatesPerBatch, klCoef, sampler: "f32" } as const;
  const judged = await Promise.all(FRAMEWORKS.map(async (framework) => {
    const { findings } = await judgeText(WRITERS[framework](rows, facts), settings);
    return [framework, findings] as const;
  }));
  return Object.fromEntries(judged) as Record<Framework, readonly Finding[]>;
}

/** Ids with the number of runs that have them: `kl_exactly_zero (3)`. */
function countIds(runs: readonly (readonly Finding[])[], kinds: readonly Finding["class"][]) {
  const counts = new Map<string, number>();
  for (const findings of runs) {
    const ids = new Set(findings.filter((one) => kinds.includes(one.class)).map(({ id }) => id));
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.map(([id, count]) => `\`${id}\` (${count})`).join(", ") || "–";
}

type Judged = Record<Framework, readonly Finding[]>;

function table(
  judged: ReadonlyMap<string, readonly Judged[]>,
  kinds: readonly Finding["class"][],
): string {
  const header = ["run", "runs", ...FRAMEWORKS];
  const rows = Array.from(judged, ([name, runs]) => [
    `\`${name}\``,
    String(runs.length),
    ...FRAMEWORKS.map((framework) => countIds(runs.map((run) => run[framework]), kinds)),
  ]);
  return markdownTable(header, rows).join("\n");
}

if (import.meta.main) {
  const [folder] = Deno.args;
  if (folder === undefined) throw new Error("Usage: confusion.ts FOLDER, which holds the runs");
  const judged = new Map<string, Judged[]>();
  for (const { name, path } of knownRuns(folder)) {
    judged.set(name, [...judged.get(name) ?? [], await judgeRun(path)]);
  }
  const everyRun = [...judged.values()].flat();
  const isHealthy = (name: string) =>
    !(CATALOGUE_NAMES as readonly string[]).includes(name) ||
    ["healthy", "healthy_12_turns", "kl_0.1"].includes(name);
  const alarms = [...judged].filter(([name]) => isHealthy(name)).flatMap(([, runs]) =>
    runs.flatMap((run) => FRAMEWORKS.flatMap((framework) => run[framework]))
  ).filter((finding) => finding.class === "violated" || finding.class === "suspect");
  const healthyCount = [...judged].filter(([name]) => isHealthy(name))
    .reduce((sum, [, runs]) => sum + runs.length, 0);
  console.log([
    HEADER,
    `False alarms (violated or suspect) on ${healthyCount} healthy runs in ${FRAMEWORKS.length} frameworks' logs: ${alarms.length}.`,
    "## Violated or suspect",
    table(judged, ["violated", "suspect"]),
    "## Notes and what is so by construction",
    table(judged, ["note", "expected"]),
    "## What the log does not tell",
    `Said in ${everyRun.length} runs, with the flag that switches it on: ${
      FRAMEWORKS.map((framework) =>
        `${framework}: ${countIds(everyRun.map((run) => run[framework]), ["not-checkable"])}`
      ).join("; ")
    }.`,
  ].join("\n\n"));
}
