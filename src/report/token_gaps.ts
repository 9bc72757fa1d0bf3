/** Two engines about the same tokens, as points of charts: one log-prob against the other, and their gap by position. */
import { gapSides } from "./script/token_quantities.ts";
import type { LogProbSide, TokenSequence } from "../tokens/token_batch.ts";
import type { Point } from "./downsample.ts";
import { countedTokens, gapsOf } from "./token_summary.ts";

/** Tokens of a scatter that are evenly taken from the dump, at most, and the farthest from equal beside them. */
const MAX_SCATTER = 600;
const MAX_FARTHEST = 60;

/** Positions below this have a point of their own; from there on eight share each doubling. */
const SINGLE_POSITIONS = 16;
const BINS_PER_DOUBLING = 8;

interface PositionBin {
  count: number;
  positions: number;
  sum: number;
  worst: number;
}

function binOf(position: number): number {
  if (position < SINGLE_POSITIONS) return position;
  return SINGLE_POSITIONS +
    Math.floor(BINS_PER_DOUBLING * Math.log2(position / SINGLE_POSITIONS));
}

interface FarPoint {
  readonly point: Point;
  readonly size: number;
}

/** Collects the points of both charts. */
export class GapCharts {
  #sides: readonly [LogProbSide, LogProbSide] | undefined;
  #even: Point[] = [];
  /** Every so many tokens one is taken. */
  #stride = 1;
  #seen = 0;
  readonly #farthest: FarPoint[] = [];
  readonly #bins = new Map<number, PositionBin>();

  /** Takes the tokens of the next sequence. The sides of the chart are those of the first sequence with two. */
  add(sequence: TokenSequence): void {
    const { ids, logProbs } = sequence;
    const sides = gapSides((side) => logProbs[side] !== undefined);
    const gapAt = gapsOf(sequence);
    if (!sides || !gapAt) return;
    this.#sides ??= sides;
    if (this.#sides.join() !== sides.join()) return;
    const [xs = [], ys = []] = sides.map((side) => logProbs[side]?.values);
    const counts = countedTokens(sequence);
    for (let i = 0; i < ids.length; i++) {
      if (!counts(i)) continue;
      const size = Math.abs(gapAt(i));
      if (!Number.isFinite(size)) continue;
      this.#addPosition(i, size);
      this.#addPoint([xs[i], ys[i]], size);
    }
  }

  #addPosition(position: number, size: number): void {
    const key = binOf(position);
    const bin = this.#bins.get(key) ?? { count: 0, positions: 0, sum: 0, worst: 0 };
    bin.count++;
    bin.positions += position;
    bin.sum += size;
    bin.worst = Math.max(bin.worst, size);
    this.#bins.set(key, bin);
  }

  #addPoint(point: Point, size: number): void {
    if (this.#seen++ % this.#stride === 0) this.#even.push(point);
    if (this.#even.length > MAX_SCATTER) {
      this.#even = this.#even.filter((_, i) => i % 2 === 0);
      this.#stride *= 2;
    }
    const least = this.#farthest.at(-1)?.size ?? -1;
    if (this.#farthest.length === MAX_FARTHEST && size <= least) return;
    const place = this.#farthest.findIndex((far) => far.size < size);
    this.#farthest.splice(place < 0 ? this.#farthest.length : place, 0, { point, size });
    if (this.#farthest.length > MAX_FARTHEST) this.#farthest.pop();
  }

  /** The points, in ascending order. */
  finish() {
    const byX = (a: Point, b: Point) => a[0] - b[0] || a[1] - b[1];
    const bins = [...this.#bins].sort(([a], [b]) => a - b).map(([, bin]) => bin);
    const centre = ({ positions, count }: PositionBin) => positions / count;
    const points = new Map(
      [...this.#even, ...this.#farthest.map(({ point }) => point)].map((p) => [p.join(), p]),
    );
    return {
      gapSides: this.#sides,
      scatter: [...points.values()].sort(byX),
      gapByPosition: {
        mean: bins.map((bin): Point => [centre(bin), bin.sum / bin.count]),
        worst: bins.map((bin): Point => [centre(bin), bin.worst]),
      },
    };
  }
}
