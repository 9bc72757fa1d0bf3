/**
 * What the checks of token dumps say of dumps that are broken in a known way, and of healthy ones: writes the tables of
 * docs/token_checks.md.
 */
import { markdownTable } from "../../src/core/markdown_table.ts";
import type { Finding } from "../../src/diagnose/finding.ts";
import { judgeTokens } from "../../src/diagnose/tokens/judge_tokens.ts";
import { batchOf, type Episode, readEpisodes } from "./recorded_batches.ts";
import { BREAKAGES } from "./token_breakages.ts";
import { HEALTHY } from "./token_healthy.ts";
import { sequencesOfVariant, type Variant } from "./token_variants.ts";

/** Findings about a variant's dump of a seed. */
export function judgeVariant(
  variant: Variant,
  options: { readonly seed: number; readonly episodes: readonly Episode[] },
): Promise<Finding[]> {
  return judgeTokens(batchOf(sequencesOfVariant(variant, options)));
}

/** Findings that speak against a run. */
export function alarmsOf(findings: readonly Finding[]): Finding[] {
  return findings.filter((finding) => finding.class === "violated" || finding.class === "suspect");
}

/** True where the expected finding was made. */
export function isHit({ expected, or = [] }: Variant, findings: readonly Finding[]): boolean {
  return alarmsOf(findings).some(({ id }) => id === expected || or.includes(id));
}

const HEADER = [
  "# What the token checks say of dumps that are broken on purpose",
  "",
  "Batches of a run of ours (`tests/foreign/recorded_batches.safetensors`, 256 episodes of four steps,",
  "2,624 tokens of the policy), written as dumps and broken in one way each",
  "(`tests/foreign/token_breakages.ts`). Log-probs at another temperature, of a cut distribution, of older",
  "weights and behind padding are the model's own, computed by the reference. Sampler and trainer differ",
  "by noise of 0.015 nats per token. Seeds change which groups are there, the noise, the advantages (GRPO,",
  "Dr. GRPO, RLOO), how a dump says who wrote a token (a flag, roles, zeros, nulls), ranks, and where the",
  "breakage is.",
  "",
  "    cli/agentrl train --steps 10 --seed 11 --set recordEvery=3 \\",
  "      --base tests/golden/model.safetensors --out runs/recorded",
  "    deno run -A tests/foreign/record_token_batches.ts runs/recorded",
  "    deno run -A tests/foreign/token_checks.ts 20 > docs/token_checks.md",
  "    deno fmt docs/token_checks.md",
  "",
  "regenerates the batches and these tables; the last two lines alone make the tables.",
].join("\n");

/** Counts of ids: `id` (3). */
class IdCounts {
  readonly #counts = new Map<string, number>();

  add(ids: Iterable<string>): void {
    for (const id of new Set(ids)) this.#counts.set(id, (this.#counts.get(id) ?? 0) + 1);
  }

  toString(): string {
    return [...this.#counts].toSorted(([, a], [, b]) => b - a)
      .map(([id, count]) => `\`${id}\` (${count})`).join(", ") || "–";
  }
}

interface Judged {
  readonly episodes: readonly Episode[];
  readonly seeds: readonly number[];
}

async function breakageRow(name: string, variant: Variant, { episodes, seeds }: Judged) {
  const names = [variant.expected ?? "", ...variant.or ?? []];
  const explained = new IdCounts(), besides = new IdCounts();
  let hits = 0, first = 0;
  for (const seed of seeds) {
    const alarms = alarmsOf(await judgeVariant(variant, { seed, episodes }));
    hits += Number(isHit(variant, alarms));
    first += Number(names.includes(alarms[0]?.id));
    const follows = new Set(alarms.flatMap(({ explains = [] }) => explains));
    const others = alarms.map(({ id }) => id).filter((id) => !names.includes(id));
    explained.add(others.filter((id) => follows.has(id)));
    besides.add(others.filter((id) => !follows.has(id)));
  }
  return [
    `\`${name}\``,
    names.map((id) => `\`${id}\``).join(" or "),
    `${hits}`,
    `${seeds.length - hits}`,
    `${first}`,
    `${explained}`,
    `${besides}`,
  ];
}

async function healthyRow(name: string, variant: Variant, { episodes, seeds }: Judged) {
  const said = new IdCounts();
  let silent = 0;
  for (const seed of seeds) {
    const alarms = alarmsOf(await judgeVariant(variant, { seed, episodes }));
    silent += Number(alarms.length === 0);
    said.add(alarms.map(({ id }) => id));
  }
  return [`\`${name}\``, `${silent} of ${seeds.length}`, `${said}`];
}

if (import.meta.main) {
  const count = Number(Deno.args[0] ?? 20);
  const judged = { episodes: readEpisodes(), seeds: Array.from({ length: count }, (_, i) => i) };
  const broken: string[][] = [], healthy: string[][] = [];
  for (const [name, variant] of Object.entries(BREAKAGES)) {
    broken.push(await breakageRow(name, variant, judged));
  }
  for (const [name, variant] of Object.entries(HEALTHY)) {
    healthy.push(await healthyRow(name, variant, judged));
  }
  const columns = [
    "broken",
    "must be said",
    "hits",
    "misses",
    "first",
    "explained by it",
    "besides",
  ];
  console.log([
    HEADER,
    `## Broken dumps, ${count} seeds each`,
    "`hits`: the dumps of which it was said, as violated or suspect; `first`: those in which it came first. " +
    "A number in brackets counts dumps with a finding that is said to follow from it, or beside it.",
    markdownTable(columns, broken).join("\n"),
    `## Healthy dumps, ${count} seeds each`,
    "`silent`: nothing was called violated or suspect.",
    markdownTable(["healthy", "silent", "alarms"], healthy).join("\n"),
  ].join("\n\n"));
}
