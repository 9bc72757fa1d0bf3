/**
 * `deno task speed-table FILE… [--before FILE…]`: the table of docs/speed.md from documents of `agentrl bench step --peer … --json`,
 * one a sitting. A time is the median over the sittings; a ratio is the median of the sittings' own ratios, since ours and the
 * peer's times of a sitting were taken in turn. Files behind `--before` are of another commit, in sittings that took turns.
 */
import { UserError } from "../../src/core/errors.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { largest, median, smallest } from "../../src/core/statistics.ts";

/** A case as a document has it: times in ms, of a rollout in ms per token. */
interface CaseTimes {
  readonly oursMs?: number;
  readonly oursMsPerToken?: number;
  readonly peerMs?: number | null;
  readonly peerMsPerToken?: number | null;
}

/** What is read of a document. */
export interface StepDocument {
  readonly cpu: string;
  readonly adapter: string;
  readonly rounds: number;
  readonly hostMs: number;
  readonly [key: string]: CaseTimes | string | number;
}

/** The cases of src/bench/step.ts, in the order of the table. */
const TITLES = {
  reinforce: "REINFORCE step, 64 episodes",
  grpo: "GRPO step, 8 × 8 episodes",
  healthyRun: "GRPO run, 24 steps",
  cloning: "cloning, 200 steps of 32 episodes",
  rollout256: "rollout of 256 episodes, per token",
  rollout1024: "rollout of 1,024 episodes, per token",
} as const;

type CaseKey = keyof typeof TITLES;

/** Ours and the peer's time of a case in one sitting, in ms. */
function timesOf(document: StepDocument, key: CaseKey): { ours: number; peer: number } {
  const times = document[key];
  if (typeof times !== "object") {
    throw new UserError(`Cannot make the table: a document has no case "${key}"`);
  }
  const ours = times.oursMs ?? times.oursMsPerToken ?? NaN;
  return { ours, peer: times.peerMs ?? times.peerMsPerToken ?? NaN };
}

/** A time in three digits, in the unit that suits it. */
export function shortTime(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  const [value, unit] = ms >= 1000 ? [ms / 1000, "s"] : ms < 1 ? [ms * 1000, "µs"] : [ms, "ms"];
  return `${value >= 100 ? value.toFixed(0) : value.toPrecision(3)} ${unit}`;
}

/** The median of some ratios, with the least and the largest where there are several. */
function shortRatio(ratios: readonly number[]): string {
  const [middle, least, most] = [median(ratios), smallest(ratios), largest(ratios)]
    .map((ratio) => ratio.toFixed(2));
  if (!ratios.every(Number.isFinite)) return "–";
  return ratios.length === 1 ? `${middle}` : `${middle} (${least}-${most})`;
}

/**
 * The lines of the table.
 * @param now Documents of this commit, one a sitting.
 * @param before Those of another one, or none.
 */
export function stepTable(
  now: readonly StepDocument[],
  before: readonly StepDocument[] = [],
): string[] {
  const keys = Object.keys(TITLES) as CaseKey[];
  const rows = keys.map((key) => {
    const times = now.map((document) => timesOf(document, key));
    const old = before.map((document) => timesOf(document, key).ours);
    return [
      TITLES[key],
      ...(before.length === 0 ? [] : [shortTime(median(old))]),
      shortTime(median(times.map(({ ours }) => ours))),
      shortTime(median(times.map(({ peer }) => peer))),
      shortRatio(times.map(({ ours, peer }) => ours / peer)),
    ];
  });
  const header = ["case", ...(before.length === 0 ? [] : ["before"]), "ours", "PyTorch", "ratio"];
  const [first] = now;
  const hostMs = median(now.map((document) => document.hostMs));
  return [
    ...markdownTable(header, rows),
    "",
    `${now.length} sittings of ${first?.rounds} rounds on ${first?.cpu} (${first?.adapter}); ` +
    `${hostMs.toFixed(1)} ms of the host in a step`,
  ];
}

if (import.meta.main) {
  const split = Deno.args.indexOf("--before");
  const groups = split < 0 ? [Deno.args, []] : [
    Deno.args.slice(0, split),
    Deno.args.slice(split + 1),
  ];
  const [now = [], before = []] = groups.map((names) =>
    names.map((name): StepDocument => JSON.parse(Deno.readTextFileSync(name)))
  );
  if (now.length === 0) {
    console.error("deno task speed-table FILE… [--before FILE…]: documents of bench step --json");
    Deno.exit(2);
  }
  console.log(stepTable(now, before).join("\n"));
}
