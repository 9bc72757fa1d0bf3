/** What a token can be coloured by: the quantity, its levels and their legend. A level is a colour and a line, never a colour alone. */
import type { LogProbSide, TokenRole } from "../../tokens/token_batch.ts";

/** Quantities, in the order in which they are offered. */
export const QUANTITIES = [
  "gap",
  "ratio",
  "probability",
  "entropy",
  "advantage",
  "mask",
  "role",
] as const;

/** A quantity. */
export type Quantity = typeof QUANTITIES[number];

/** What is known of one token; NaN where a number is missing. */
export interface TokenFacts {
  readonly logProbs: { readonly [side in LogProbSide]?: number };
  readonly entropy: number;
  readonly advantage: number;
  readonly isTrained: boolean | undefined;
  readonly isSampled: boolean | undefined;
  readonly role: TokenRole | undefined;
}

/** A legend's line: what a token looks like, and what that means. */
export interface LegendEntry {
  readonly look: string;
  readonly text: string;
}

/** Which of the sides there are. */
type HasSide = (side: LogProbSide) => boolean;

/**
 * The two sides whose difference is the gap between engines.
 *
 * @returns [what is subtracted, what it is subtracted from]; undefined where there are no two.
 */
export function gapSides(has: HasSide): readonly [LogProbSide, LogProbSide] | undefined {
  if (has("sampler") && has("trainer")) return ["sampler", "trainer"];
  if (has("sampler") && has("old")) return ["sampler", "old"];
  return has("old") && has("trainer") ? ["old", "trainer"] : undefined;
}

/** The two sides of the importance ratio exp(second − first); undefined where there are none. */
export function ratioSides(has: HasSide): readonly [LogProbSide, LogProbSide] | undefined {
  return has("old") && has("trainer") ? ["old", "trainer"] : gapSides(has);
}

/** The side that a token's probability is taken from. */
export function probabilitySide(has: HasSide): LogProbSide | undefined {
  return (["sampler", "old", "trainer"] as const).find(has);
}

/** log p of one side minus log p of another, in nats; NaN where one is missing. */
function difference(
  { logProbs }: TokenFacts,
  sides: readonly [LogProbSide, LogProbSide] | undefined,
): number {
  if (sides === undefined) return NaN;
  return (logProbs[sides[1]] ?? NaN) - (logProbs[sides[0]] ?? NaN);
}

const sidesOf = ({ logProbs }: TokenFacts): HasSide => (side) => logProbs[side] !== undefined;

/**
 * The value of a quantity.
 *
 * @returns Nats for `gap` and `entropy`; NaN where there is none, and for `mask` and `role`.
 */
export function valueOf(quantity: Quantity, token: TokenFacts): number {
  switch (quantity) {
    case "gap":
      return difference(token, gapSides(sidesOf(token)));
    case "ratio":
      return Math.exp(difference(token, ratioSides(sidesOf(token))));
    case "probability": {
      const side = probabilitySide(sidesOf(token));
      return side === undefined ? NaN : Math.exp(token.logProbs[side] ?? NaN);
    }
    case "entropy":
      return token.entropy;
    case "advantage":
      return token.advantage;
    case "mask":
    case "role":
      return NaN;
    default:
      return quantity satisfies never;
  }
}

/** The four sizes at which the next level begins. */
type Bounds = readonly number[];

/**
 * Nats. Two bf16 engines differ by 0.01 to 0.02; slime's tests fail above 0.1; from 0.7 on a probability has halved or doubled;
 * 2 is a factor of seven.
 */
const GAP_BOUNDS: Bounds = [0.02, 0.1, 0.7, 2];
/** Ratios: 1.2 is where PPO clips by default. */
const RATIO_BOUNDS: Bounds = [1.01, 1.2, 2, 5];
const ENTROPY_BOUNDS: Bounds = [0.1, 0.5, 1, 2];
/** Probabilities, falling: what is unlikely is what is worth a look. */
const PROBABILITY_BOUNDS: Bounds = [0.5, 0.1, 0.01, 0.001];
/** Shares of the largest advantage. Zero itself is not a level: it trains nothing. */
const ADVANTAGE_SHARES: Bounds = [0, 0.25, 0.5, 0.75];

/** 0 to 4: how many bounds a size has reached. */
function levelOf(size: number, bounds: Bounds): number {
  return bounds.filter((bound) => size >= bound).length;
}

/** Warm above zero, cool below it. */
function signedLook(value: number, level: number): string {
  return level === 0 ? "level-0" : `${value < 0 ? "cool" : "warm"}-${level}`;
}

function numberLook(quantity: Quantity, value: number, largestAdvantage: number): string {
  if (Number.isNaN(value)) return "unknown";
  switch (quantity) {
    case "gap":
      return signedLook(value, levelOf(Math.abs(value), GAP_BOUNDS));
    case "ratio": {
      const size = Math.max(value, 1 / value);
      return signedLook(Math.log(value), levelOf(size, RATIO_BOUNDS));
    }
    case "probability":
      return signedLook(1, levelOf(-value, PROBABILITY_BOUNDS.map((bound) => -bound)));
    case "entropy":
      return signedLook(1, levelOf(value, ENTROPY_BOUNDS));
    case "advantage": {
      const share = Math.abs(value) / largestAdvantage;
      return value === 0 ? "level-0" : signedLook(value, levelOf(share, ADVANTAGE_SHARES));
    }
    default:
      return "unknown";
  }
}

function maskLook({ isTrained, isSampled }: TokenFacts): string {
  if (isTrained === undefined) return "unknown";
  if (isTrained) return isSampled === false ? "broken" : "trained";
  return isSampled ? "left-out" : "level-0";
}

/**
 * How a token looks: the name of a rule in the style sheet.
 *
 * @param largestAdvantage Of the dump, without its sign; above 0.
 */
export function lookOf(quantity: Quantity, token: TokenFacts, largestAdvantage: number): string {
  if (quantity === "mask") return maskLook(token);
  if (quantity === "role") return token.role === undefined ? "unknown" : `role-${token.role}`;
  return numberLook(quantity, valueOf(quantity, token), largestAdvantage);
}

const say = (value: number) => String(Number(value.toPrecision(3)));

/** Ranges of a scale: from each bound to the next, and from the last one on. */
function rangesOf(bounds: Bounds, unit: string): string[] {
  return bounds.map((bound, i) =>
    i + 1 < bounds.length
      ? `${say(bound)} to ${say(bounds[i + 1])}${unit}`
      : `${say(bound)}${unit} or more`
  );
}

function scaleLegend(
  bounds: Bounds,
  { warm, cool, unit }: { readonly warm: string; readonly cool?: string; readonly unit: string },
): LegendEntry[] {
  const ranges = rangesOf(bounds, unit);
  const side = (name: string, sign: string) =>
    ranges.map((range, i) => ({ look: `${name}-${i + 1}`, text: `${sign}${range}` }));
  return [
    { look: "level-0", text: `below ${say(bounds[0])}${unit}` },
    ...side("warm", warm),
    ...(cool === undefined ? [] : side("cool", cool)),
  ];
}

const UNKNOWN: LegendEntry = { look: "unknown", text: "no value" };

/**
 * The legend of a quantity.
 *
 * @param largestAdvantage Of the dump, without its sign; above 0.
 */
export function quantityLegend(quantity: Quantity, largestAdvantage: number): LegendEntry[] {
  switch (quantity) {
    case "gap":
      return [
        ...scaleLegend(GAP_BOUNDS, {
          warm: "higher by ",
          cool: "lower by ",
          unit: " nats",
        }),
        UNKNOWN,
      ];
    case "ratio":
      return [
        ...scaleLegend(RATIO_BOUNDS, {
          warm: "higher, times ",
          cool: "lower, divided by ",
          unit: "",
        }),
        UNKNOWN,
      ];
    case "probability":
      return [
        { look: "level-0", text: `above ${PROBABILITY_BOUNDS[0]}` },
        ...PROBABILITY_BOUNDS.map((bound, i) => ({
          look: `warm-${i + 1}`,
          text: i === 3 ? `${bound} or less` : `${bound} to ${PROBABILITY_BOUNDS[i + 1]}`,
        })),
        UNKNOWN,
      ];
    case "entropy":
      return [...scaleLegend(ENTROPY_BOUNDS, { warm: "", unit: " nats" }), UNKNOWN];
    case "advantage": {
      const bounds = ADVANTAGE_SHARES.map((share) => share * largestAdvantage);
      const [zero, ...others] = scaleLegend(bounds, { warm: "+", cool: "−", unit: "" });
      return [{ ...zero, text: "0" }, ...others, UNKNOWN];
    }
    case "mask":
      return [
        { look: "trained", text: "trained" },
        { look: "level-0", text: "not trained" },
        { look: "broken", text: "trained, but not sampled" },
        { look: "left-out", text: "sampled, but not trained" },
        { look: "unknown", text: "not known" },
      ];
    case "role":
      return [
        ...(["system", "user", "assistant", "tool", "other"] as const)
          .map((role) => ({ look: `role-${role}`, text: role })),
        { look: "unknown", text: "not known" },
      ];
    default:
      return quantity satisfies never;
  }
}
