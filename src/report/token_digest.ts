/** What a page keeps of a token dump of any size: counts of all of it, the worst sequences, its groups, and samples for charts. */
import type { Finding } from "../diagnose/finding.ts";
import { LOG_PROB_SIDES, type LogProbSide, type TokenSequence } from "../tokens/token_batch.ts";
import type { Point } from "./downsample.ts";
import { GapCharts } from "./token_gaps.ts";
import { type KeptSequence, WorstSequences } from "./token_keep.ts";
import { GroupCollector, type GroupDigest } from "./token_groups.ts";
import { type SequenceSummary, summaryOf } from "./token_summary.ts";

/** What there is in a dump, over all of its sequences. */
export interface TokenTotals {
  readonly sequences: number;
  readonly tokens: number;
  /** Undefined where no sequence has a mask. */
  readonly trained: number | undefined;
  readonly groups: number;
  readonly steps: readonly [number, number] | undefined;
  readonly sides: readonly LogProbSide[];
  readonly hasRoles: boolean;
  readonly hasEntropy: boolean;
  readonly hasAdvantages: boolean;
}

/** A dump as a page shows it. */
export interface TokenDigest {
  readonly totals: TokenTotals;
  /** Of the dump, without its sign; above 0. */
  readonly largestAdvantage: number;
  /** The worst first. */
  readonly kept: readonly KeptSequence[];
  /** Those with something to see first. */
  readonly groups: readonly GroupDigest[];
  /** (log p of the one side, of the other) of trained tokens, in ascending order; the farthest from equal are among them. */
  readonly scatter: readonly Point[];
  /** Which sides the gap is between; undefined where there are no two. */
  readonly gapSides: readonly [LogProbSide, LogProbSide] | undefined;
  /** Mean and largest gap by the token's index in its sequence, without their signs, in nats. */
  readonly gapByPosition: { readonly mean: readonly Point[]; readonly worst: readonly Point[] };
}

/** Bytes of a page that sequences may fill. */
const DEFAULT_BYTES = 1_000_000;

/** Findings by the row that they point to. */
function byRow(findings: readonly Finding[]): Map<string, Finding[]> {
  const pointing = findings.filter(({ at }) => at?.row !== undefined);
  return Map.groupBy(pointing, ({ at }) => `${at?.file}:${at?.row}`);
}

/** Takes sequences one after the other, and keeps what a page shows of them. */
export class TokenCollector {
  readonly #findings: Map<string, Finding[]>;
  readonly #worst: WorstSequences;
  readonly #groups = new GroupCollector();
  readonly #gaps = new GapCharts();
  readonly #sides = new Set<LogProbSide>();
  #sequences = 0;
  #tokens = 0;
  #trained: number | undefined;
  #firstStep = Infinity;
  #lastStep = -Infinity;
  #largestAdvantage = 0;
  #hasRoles = false;
  #hasEntropy = false;
  #hasAdvantages = false;

  /**
   * @param options.findings What is said about the dump: sequences that it points to come first.
   * @param options.maxBytes How much of a page sequences may fill.
   */
  constructor(options: { readonly findings?: readonly Finding[]; readonly maxBytes?: number }) {
    this.#findings = byRow(options.findings ?? []);
    this.#worst = new WorstSequences(options.maxBytes ?? DEFAULT_BYTES);
  }

  /** Takes the next sequence. */
  add(sequence: TokenSequence): void {
    const findings = (this.#findings.get(`${sequence.file}:${sequence.row}`) ?? [])
      .filter(({ at }) => at?.sample === undefined || at.sample === sequence.sample);
    const summary = summaryOf(sequence, { index: this.#sequences++, findings });
    this.#count(sequence, summary);
    this.#gaps.add(sequence);
    this.#groups.add(summary);
    this.#worst.add(sequence, { summary, findings });
  }

  #count(sequence: TokenSequence, { tokenCount, trainedCount, advantage }: SequenceSummary): void {
    const { step, roles, entropy, advantages, logProbs } = sequence;
    this.#tokens += tokenCount;
    if (trainedCount !== undefined) this.#trained = (this.#trained ?? 0) + trainedCount;
    if (step !== undefined) {
      this.#firstStep = Math.min(this.#firstStep, step);
      this.#lastStep = Math.max(this.#lastStep, step);
    }
    for (const side of LOG_PROB_SIDES) if (logProbs[side]) this.#sides.add(side);
    this.#hasRoles ||= roles !== undefined;
    this.#hasEntropy ||= entropy !== undefined;
    this.#hasAdvantages ||= advantages !== undefined;
    if (advantage) {
      const size = Math.max(Math.abs(advantage.low), Math.abs(advantage.high));
      if (size > this.#largestAdvantage && size < Infinity) this.#largestAdvantage = size;
    }
  }

  /** What is kept of all the sequences so far. */
  finish(): TokenDigest {
    const groups = this.#groups.finish();
    return {
      totals: {
        sequences: this.#sequences,
        tokens: this.#tokens,
        trained: this.#trained,
        groups: this.#groups.count,
        steps: this.#firstStep <= this.#lastStep ? [this.#firstStep, this.#lastStep] : undefined,
        sides: LOG_PROB_SIDES.filter((side) => this.#sides.has(side)),
        hasRoles: this.#hasRoles,
        hasEntropy: this.#hasEntropy,
        hasAdvantages: this.#hasAdvantages,
      },
      largestAdvantage: this.#largestAdvantage || 1,
      kept: this.#worst.finish(),
      groups,
      ...this.#gaps.finish(),
    };
  }
}
