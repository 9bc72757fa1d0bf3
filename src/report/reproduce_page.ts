/** The last page: commands, seeds, versions and hashes with which everything in the report can be made again. */
import denoConfig from "../../deno.json" with { type: "json" };
import { command, type Mention, type MentionWords } from "../core/mention.ts";
import { faultConfig } from "../faults/faults.ts";
import { resolveConfig, type TrainConfig } from "../rl/config.ts";
import { baseName, type RunSettings } from "../run/run_settings.ts";
import type { Section } from "./document.ts";
import { type Html, html, NOTHING } from "./html.ts";
import type { ReportContent } from "./report_content.ts";
import type { RunData } from "./run_data.ts";
import { facts, resultTable } from "./tables.ts";

/** The settings of a run that are not what its algorithm and its fault set by themselves. */
function ownSettings({ config, bug, environment }: RunSettings): string[] {
  const { algorithm, seed, steps } = config;
  const standard = resolveConfig({
    flags: { algorithm, seed, steps, ...faultConfig(bug ?? undefined) },
    environment,
  });
  return (Object.keys(config) as (keyof TrainConfig)[])
    .filter((key) => JSON.stringify(config[key]) !== JSON.stringify(standard[key]))
    .map((key) => `${key}=${JSON.stringify(config[key]).replaceAll('"', "")}`);
}

function trainCommand({ settings }: RunData): Mention[] {
  if (!settings) return [];
  const { config: { algorithm, seed, steps }, base, bug, environment } = settings;
  return [command("train", {
    ...environment?.settings,
    algorithm,
    seed,
    steps,
    base: baseName(base),
    ...(bug === null ? {} : { bug, ignoreChecks: true }),
    sets: ownSettings(settings),
  })];
}

/** What makes the content of a report again. */
function commands({ lab, faults, matrix, runs, bench }: ReportContent): Mention[] {
  return [
    ...lab.map(({ seed, quick, variant }) =>
      command("lab", { seed, quick, ...(variant !== null && { variant }) })
    ),
    ...(faults ? [command("faults", { seed: faults.seed })] : []),
    ...(matrix ? [command("check", { matrix: true, json: true })] : []),
    ...runs.flatMap(trainCommand),
    ...bench.map(({ suite }) => command("bench", { json: true }, { subjects: [suite] })),
  ];
}

function hashes({ faults, runs }: ReportContent): Html {
  const bases = runs.flatMap(({ name, settings }) =>
    settings?.baseHash ? [[name, "base agent", settings.baseHash] as const] : []
  );
  const ends = Object.entries(faults?.weightsHashes ?? {}).map(([name, hash]) =>
    [name, "last weights", hash] as const
  );
  const rows = [...bases, ...ends];
  if (rows.length === 0) return NOTHING;
  return resultTable({
    title: "SHA-256 of weights: the same seed on the same adapter gives the same",
    columns: ["run", "weights", "SHA-256"],
    rows,
  });
}

/**
 * The page.
 *
 * @param content The whole report.
 * @param options.words Says commands.
 */
export function reproducePage(
  content: ReportContent,
  { chartJsVersion, words }: { readonly chartJsVersion: string; readonly words: MentionWords },
): Section {
  const lines = [...new Set(commands(content).map(words))];
  return {
    id: "reproduce",
    title: "How to reproduce",
    body: html`${
      lines.length === 0 ? NOTHING : html`<pre tabindex="0"><code>${lines.join("\n")}</code></pre>`
    }
${
      facts([
        ["agentrl", denoConfig.version],
        ["Deno", Deno.version.deno],
        ["Chart.js", chartJsVersion],
      ])
    }
${hashes(content)}`,
  };
}
