/** Small made-up results on disk, in the formats that a report reads, with names that try to break out of the page. */
import { sayFinding } from "../../src/diagnose/finding.ts";
import { referee } from "../../src/diagnose/referee/referee.ts";
import { type RefereeDocument, reportDocument } from "../../src/diagnose/referee/report_schema.ts";
import { METRICS } from "../../src/rl/metric_dictionary.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { writeSettings } from "../../src/run/run_settings.ts";
import { OWNER } from "../../src/core/owner.ts";
import { encode } from "../../src/gym/vocabulary.ts";
import { planted, plantedDump } from "../diagnose/referee/planted.ts";
import { scorer, toyModel } from "../diagnose/referee/toy_model.ts";

/** A name from a log as an attacker would choose it. */
export const HOSTILE = `</script><img src=x onerror="document.title='hacked'">`;

type Row = Record<string, unknown>;

function writeLines(path: string, rows: readonly unknown[]): void {
  Deno.writeTextFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

/** A row of metrics; values are made up and differ from metric to metric and from step to step. */
export function metricsRow(step: number, changes: Row = {}): Row {
  const names = Object.keys(METRICS).filter((name) => !name.startsWith("eval_"));
  const values = names.map((name, i) => [name, 0.1 + i / 50 + ((step * 7 + i) % 5) / 100]);
  const evaluation = step % 8 === 0
    ? { eval_pass: 0.5, eval_pass_low: 0.35, eval_pass_high: 0.65 }
    : {};
  return { step, ...Object.fromEntries(values), ...evaluation, ...changes };
}

function episodeRow(step: number, episode: number): Row {
  const parts = [
    ["<task> fail", OWNER.prompt],
    ["<call> read </call>", OWNER.policy],
    ["<obs> acc 1 </obs>", OWNER.tool],
    ["<call> submit </call>", OWNER.policy],
  ] as const;
  const owners = parts.flatMap(([text, owner]) => encode(text).map(() => owner));
  return {
    step,
    episode,
    group: Math.floor(episode / 2),
    tokens: parts.flatMap(([text]) => encode(text)),
    owners,
    logps: owners.map((owner, t) => owner === OWNER.policy ? -0.5 * t : 0),
    reward: episode % 2,
    info: { task: HOSTILE, stop: "submit" },
  };
}

const CHECKS = [
  { id: 1, name: "mask = policy tokens", value: 0, verdict: "holds" },
  { id: 6, name: "accumulated = one-pass gradient", value: 0.54, verdict: "violated" },
  { id: 9, name: "KL to the reference > 0 after a step", value: null, verdict: "not-applicable" },
].map((check) => ({
  ...check,
  relation: check.id === 9 ? ">" : "<=",
  bound: 1e-6,
  reason: HOSTILE,
}));

/** A run with all of its files. */
export function writeRun(path: string, stepCount = 24, changes: Row = {}): void {
  Deno.mkdirSync(`${path}/checkpoints`, { recursive: true });
  Deno.mkdirSync(`${path}/steps/5`, { recursive: true });
  const steps = Array.from({ length: stepCount }, (_, step) => step);
  writeLines(`${path}/metrics.jsonl`, steps.map((step) => metricsRow(step, changes)));
  writeLines(
    `${path}/episodes.jsonl`,
    [0, 5].flatMap((step) => [0, 1, 2, 3].map((episode) => episodeRow(step, episode))),
  );
  writeSettings(`${path}/config.json`, {
    config: resolveConfig({ flags: { algorithm: "grpo", steps: stepCount } }),
    base: { file: HOSTILE },
    bug: null,
    baseHash: "0".repeat(64),
    starts: [],
    adapter: HOSTILE,
  });
  const checks = CHECKS.map((check) => ({ ...check, bound_reason: "rounding" }));
  Deno.writeTextFileSync(`${path}/checks.json`, JSON.stringify({ checks }));
  for (const step of [0, 10]) {
    Deno.writeTextFileSync(`${path}/checkpoints/step-${step}.safetensors`, "");
  }
  Deno.writeTextFileSync(`${path}/steps/5/record.json`, JSON.stringify({ reasons: [HOSTILE] }));
}

/** A catalogue of two failures and their controls: one that the reward hides, one that it shows. */
export function writeFaults(path: string): void {
  const runs: Readonly<Record<string, Row>> = {
    healthy: { logp_gap: 0, turns: 3 },
    mask_shift: { logp_gap: 3.5 },
    sign_flip: { reward: 0.01, turns: 5.5 },
  };
  for (const [name, changes] of Object.entries(runs)) {
    Deno.mkdirSync(`${path}/${name}`, { recursive: true });
    const steps = Array.from({ length: 24 }, (_, step) => metricsRow(step, changes));
    writeLines(`${path}/${name}/metrics.jsonl`, steps);
  }
  const summary = {
    seed: 0,
    runs: Object.fromEntries(Object.keys(runs).map((name) => [name, { weightsHash: "ab12" }])),
    signatures: [{ run: "mask_shift", claim: "gap > 1", measured: HOSTILE, holds: true }],
  };
  Deno.writeTextFileSync(`${path}/summary.json`, JSON.stringify(summary));
}

/** What `check --matrix --json` prints, in small. */
export function writeMatrix(path: string): void {
  const clean = CHECKS.map((check) => ({ ...check, verdict: "holds", value: 0 }));
  const rows = [{ bug: "none", checks: clean }, { bug: "accum_local", checks: CHECKS }];
  const further = [{ bug: HOSTILE, checks: clean }];
  Deno.writeTextFileSync(path, JSON.stringify({ rows, further }));
}

/** A folder of the lab with one experiment that has a figure like 6.1. */
export function writeLab(path: string): void {
  Deno.mkdirSync(path, { recursive: true });
  const record = {
    experiment: "baselines_agent",
    title: "The variance under a baseline (Figure 6.1)",
    shows: HOSTILE,
    variant: null,
    seed: 0,
    quick: true,
    version: "0.1.0",
    adapter: "a",
    durationMs: 1234,
    tutorial: {},
    tables: [{
      title: "variance",
      columns: ["baseline", "tutorial", "ours"],
      rows: [["none", 44.7, 43.123456789], [HOSTILE, null, "0.5"]],
    }],
    figures: [{
      title: "Total variance",
      xLabel: "b",
      yLabel: "variance",
      series: [
        { name: "curve", style: "line", points: [[0, 44], [0.5, 92], [1, 323]] },
        { name: "named", style: "points", points: [[0, 44]] },
      ],
    }],
    checks: [{ requirement: "b* is smallest", value: 1.5, holds: false }],
    data: {},
  };
  Deno.writeTextFileSync(`${path}/baselines_agent.json`, JSON.stringify(record));
}

/** What a referee writes of a dump whose sampler ran at T 0.6, and whose names try to break out. */
export async function refereeDocument(): Promise<RefereeDocument> {
  const model = toyModel(5);
  const sequences = plantedDump(
    { sampler: planted.atTemperature(0.6), old: planted.noisy },
    { model, seed: 5 },
  ).map((sequence) => ({ ...sequence, file: HOSTILE, sample: HOSTILE }));
  const report = await referee({ sequences, score: scorer(model) });
  return {
    ...reportDocument(report, { sequences, textOf: (id) => id === 7 ? HOSTILE : `word${id}` }),
    model: { path: HOSTILE, architecture: "qwen3", adapter: null, reference: null },
    dump: { path: HOSTILE, form: "common_dump", sequences: 40, scored: 16, tokens: 736 },
    temperature: 1,
    adapter: HOSTILE,
    findings: report.findings.map((finding) => ({ ...sayFinding(finding) })),
  };
}

/** Writes it. */
export async function writeReferee(path: string): Promise<void> {
  Deno.writeTextFileSync(path, JSON.stringify(await refereeDocument()));
}
