/** Judges what a function gave for the vectors of a family: which dialect it is, or which mistake explains the differences. */
import { suggestName } from "../core/nearest.ts";
import { list } from "../core/sentence.ts";
import { familyNamed, VECTOR_FAMILIES } from "./families.ts";
import type { Family } from "./family.ts";
import { type DialectPredictions, familyDigest, predictionsOf } from "./predictions.ts";
import { flatValues, type FunctionResults, type VectorResults } from "./results.ts";
import { type Arrays, distance, float32Digits } from "./values.ts";

/**
 * `matches`: a dialect explains every vector. `matches-but-edges`: every one that is not an edge. `mistaken`: no dialect does, and a known
 * mistake does. `low-precision`: a dialect does but for rounding to 16 bits. `unknown`: none of these. `incomplete`: what is there matches, but
 * vectors are missing. `not-checkable`: there is nothing to judge.
 */
export type VectorVerdict =
  | "matches"
  | "matches-but-edges"
  | "mistaken"
  | "low-precision"
  | "unknown"
  | "incomplete"
  | "not-checkable";

/** A vector on which the function is not the nearest dialect. */
export interface DifferingVector {
  /** The vector. */
  readonly id: string;
  /** Output that is farthest. */
  readonly output: string;
  /** First entry that is beyond the tolerance; −1 where the output has another size. */
  readonly index: number;
  /** What the function gave there; where the size is another, how many values. */
  readonly got: number;
  /** What the dialect gives; where the size is another, how many values. */
  readonly expected: number;
}

/** A mistake that explains differences. */
export interface ExplainingMistake {
  /** Its name in the family. */
  readonly name: string;
  /** What such a trainer does. */
  readonly sentence: string;
  /** The differing vectors that it explains. */
  readonly explains: readonly string[];
}

/** The verdict about a function. */
export interface JudgedFunction {
  /** The trainer's name of it. */
  readonly name: string;
  /** The family. */
  readonly family: string;
  /** The verdict. */
  readonly verdict: VectorVerdict;
  /** Dialects that it cannot be told from; where none matches, the nearest. */
  readonly dialects: readonly string[];
  /** Mistakes that explain all differences but at edges; several where they cannot be told apart. At edges, those that explain some. */
  readonly mistakes: readonly ExplainingMistake[];
  /** Where it differs from the first of the dialects. */
  readonly differs: readonly DifferingVector[];
  /** Vectors that agree with the first of the dialects. */
  readonly agreeing: number;
  /** Vectors that were judged. */
  readonly judged: number;
  /** What else there is to say: missing outputs, extra vectors, failures; a sentence each. */
  readonly notes: readonly string[];
}

interface Given {
  readonly family: Family;
  readonly name: string;
  /** Outputs by id. One of a wrong size is kept: it agrees with nothing. */
  readonly outputs: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;
  readonly missing: readonly string[];
  readonly notes: readonly string[];
}

/** A dialect, or one of its mistakes, with the vectors on which the function differs from it. */
interface Candidate {
  readonly predictions: DialectPredictions;
  readonly mistake?: Family["mistakes"][number];
  readonly differs: ReadonlySet<string>;
}

/** What is there of a function's results, and what is to be said of the rest. */
function givenBy(family: Family, { name, results, errors = {} }: FunctionResults): Given {
  const notes: string[] = [];
  const missing: string[] = [];
  const lacking = new Map<string, number>();
  const alone = new Set<string>();
  const outputs = new Map<string, Map<string, readonly number[]>>();
  const [dialect] = family.dialects;
  for (const one of family.cases) {
    const hasResult = Object.hasOwn(results, one.id) && !Object.hasOwn(errors, one.id);
    const found = hasResult ? results[one.id] : undefined;
    if (found === undefined) {
      missing.push(one.id);
      continue;
    }
    const arrays = new Map<string, readonly number[]>();
    for (const key of Object.keys(dialect?.compute(one) ?? {})) {
      const output = Object.hasOwn(found, key) ? found[key] : undefined;
      if (output === undefined) {
        lacking.set(key, 1 + (lacking.get(key) ?? 0));
        continue;
      }
      const isAlone = family.beside?.[key]?.some((other) => !Object.hasOwn(found, other)) ?? false;
      if (isAlone) alone.add(key);
      else arrays.set(key, flatValues(output));
    }
    if (arrays.size > 0) outputs.set(one.id, arrays);
    else missing.push(one.id);
  }
  const given = family.cases.length - missing.length;
  for (const [key, count] of lacking) {
    notes.push(
      count >= given
        ? `${key} is not given: the verdict is about the other outputs`
        : `${key} is not given in ${count} of ${given} vectors: it is judged where it is`,
    );
  }
  for (const key of alone) {
    const others = list(family.beside?.[key] ?? []);
    notes.push(
      `${key} is not judged where one of ${others} is missing: it is the gradient of both`,
    );
  }
  const known = family.cases.map(({ id }) => id);
  const extra = Object.keys(results).filter((id) => !known.includes(id));
  if (extra.length > 0) {
    notes.push(`${list(extra)}: no such vector in the family, so nothing is said of it`);
  }
  for (const [id, sentence] of Object.entries(errors).slice(0, 5)) {
    notes.push(`${id.slice(0, 60)}: the function failed: ${sentence.slice(0, 200)}`);
  }
  return { family, name, outputs, missing, notes };
}

/** The vectors on which the function differs from a prediction. */
function differing({ family, outputs }: Given, predicted: (id: string) => Arrays): Set<string> {
  const differs = new Set<string>();
  for (const [id, arrays] of outputs) {
    const expected = predicted(id);
    for (const [key, got] of arrays) {
      const values = expected[key]?.values ?? [];
      if (distance(got, values, family.tolerance) > 1) differs.add(id);
    }
  }
  return differs;
}

function candidatesOf(given: Given, all: readonly DialectPredictions[]): Candidate[] {
  return all.flatMap((predictions) => {
    const right = (id: string) => predictions.outputs.get(id) ?? {};
    const rightDiffers = differing(given, right);
    const own: Candidate = { predictions, differs: rightDiffers };
    return [
      own,
      ...predictions.mistaken.map(({ mistake, outputs }): Candidate => ({
        predictions,
        mistake,
        differs: differing(given, (id) => outputs.get(id) ?? right(id)),
      })),
    ];
  });
}

/** Where the function differs from a dialect, with the first number that does. */
function showDiffering({ family, outputs }: Given, candidate: Candidate): DifferingVector[] {
  return [...candidate.differs].flatMap((id) => {
    const expected = candidate.predictions.outputs.get(id) ?? {};
    for (const [output, got] of outputs.get(id) ?? []) {
      const values = expected[output]?.values ?? [];
      if (distance(got, values, family.tolerance) <= 1) continue;
      if (got.length !== values.length) {
        return [{ id, output, index: -1, got: got.length, expected: values.length }];
      }
      const index = values.findIndex((_, i) => {
        const single = [...values];
        single[i] = got[i] ?? NaN;
        return distance(single, values, family.tolerance) > 1;
      });
      return [{ id, output, index, got: got[index] ?? NaN, expected: values[index] ?? NaN }];
    }
    return [];
  });
}

/** Rounding to 16 bits leaves this share at most: 8 bits of bfloat16's mantissa, and a few operations. */
const COARSE = { relative: 2 ** -5, absolute: 1e-6 };

/** Whether most numbers are exactly bfloat16 or float16, which float32 arithmetic does not give by chance. */
function isSixteenBit({ outputs }: Given): boolean {
  const values = [...outputs.values()].flatMap((arrays) => [...arrays.values()].flat())
    .filter((value) => Number.isFinite(value) && Math.abs(value) > 1e-3 && value % 1 !== 0);
  if (values.length < 10) return false;
  const isBrain = values.every((value) =>
    Math.fround(value) === value && float32Digits(value).endsWith("0000")
  );
  return isBrain || values.every((value) => Math.f16round(value) === value);
}

function roundedDialects(given: Given, right: readonly Candidate[]): Candidate[] {
  if (!isSixteenBit(given)) return [];
  const edges = new Set(given.family.cases.flatMap(({ id, isEdge }) => isEdge ? [id] : []));
  const tolerance = { ...given.family.tolerance, ...COARSE };
  const loose = { ...given, family: { ...given.family, tolerance } };
  return right.filter(({ predictions }) =>
    [...differing(loose, (id) => predictions.outputs.get(id) ?? {})].every((id) => edges.has(id))
  );
}

type Ending = Pick<JudgedFunction, "verdict" | "dialects" | "mistakes" | "differs">;

/** Those with the fewest differing vectors. */
function fewest(candidates: readonly Candidate[]): Candidate[] {
  const least = Math.min(...candidates.map(({ differs }) => differs.size));
  return candidates.filter(({ differs }) => differs.size === least);
}

function end(given: Given, candidates: readonly Candidate[]): Ending {
  const edges = new Set(given.family.cases.flatMap(({ id, isEdge }) => isEdge ? [id] : []));
  const holdsOff = ({ differs }: Candidate) => [...differs].every((id) => edges.has(id));
  const right = candidates.filter(({ mistake }) => mistake === undefined);
  const wrong = candidates.filter(({ mistake }) => mistake !== undefined);
  const rightOf = (chosen: readonly Candidate[]) =>
    right.filter(({ predictions }) => chosen.some((one) => one.predictions === predictions));
  const ending = (
    verdict: VectorVerdict,
    dialects: readonly Candidate[],
    explained: readonly Candidate[] = [],
  ): Ending => {
    const differs = dialects[0] === undefined ? [] : showDiffering(given, dialects[0]);
    const named = new Map(explained.map((one) => [one.mistake?.name, one]));
    return {
      verdict,
      dialects: dialects.map(({ predictions }) => predictions.dialect.name),
      mistakes: [...named.values()].map((candidate) => ({
        name: candidate.mistake?.name ?? "",
        sentence: candidate.mistake?.sentence ?? "",
        explains: differs.flatMap(({ id }) => candidate.differs.has(id) ? [] : [id]),
      })),
      differs,
    };
  };
  const whole = right.filter(({ differs }) => differs.size === 0);
  if (whole.length > 0) return ending("matches", whole);
  const core = fewest(right.filter(holdsOff));
  if (core.length > 0) {
    // At the edges a trainer may do more than one thing of its own: each is named that explains one of them and spoils nothing.
    const explaining = wrong.filter((one) =>
      core.some(({ predictions, differs }) =>
        one.predictions === predictions && one.differs.size < differs.size &&
        one.differs.isSubsetOf(differs)
      )
    );
    return ending("matches-but-edges", core, explaining);
  }
  const explained = wrong.filter(({ differs }) => differs.size === 0);
  const explaining = explained.length > 0 ? explained : fewest(wrong.filter(holdsOff));
  if (explaining.length > 0) {
    const dialects = fewest(rightOf(explaining));
    const nearest = explaining.filter(({ predictions }) =>
      dialects.some((one) => one.predictions === predictions)
    );
    return ending("mistaken", dialects, nearest);
  }
  const rounded = roundedDialects(given, right);
  if (rounded.length > 0) return ending("low-precision", rounded);
  return ending("unknown", fewest(right));
}

/** The verdict where there is nothing to judge. */
function notCheckable({ name, family }: FunctionResults, note: string): JudgedFunction {
  return {
    name,
    family,
    verdict: "not-checkable",
    dialects: [],
    mistakes: [],
    differs: [],
    agreeing: 0,
    judged: 0,
    notes: [note],
  };
}

/**
 * A judge of many functions, which computes the predictions of each family once.
 *
 * @returns Judges a function as {@linkcode judgeFunction} does.
 */
export function vectorJudge(): (results: FunctionResults) => JudgedFunction {
  const known = new Map<string, readonly DialectPredictions[]>();
  return (results) =>
    judge(results, (family) => {
      const predictions = known.get(family.name) ?? predictionsOf(family);
      known.set(family.name, predictions);
      return predictions;
    });
}

/**
 * Judges a function.
 *
 * @param results What it gave.
 * @returns The verdict. A mistake is named only where it explains every vector that is not an edge.
 */
export function judgeFunction(results: FunctionResults): JudgedFunction {
  return judge(results, predictionsOf);
}

function judge(
  results: FunctionResults,
  predictionsFor: (family: Family) => readonly DialectPredictions[],
): JudgedFunction {
  const family = familyNamed(results.family);
  if (family === undefined) {
    const names = VECTOR_FAMILIES.map(({ name }) => name);
    return notCheckable(
      results,
      `no family is called "${results.family}"; ${suggestName(results.family, names)}`,
    );
  }
  const digest = familyDigest(family);
  if (results.digest !== digest) {
    return notCheckable(
      results,
      `its results are for other vectors (digest ${results.digest}, here ${digest}): ` +
        "write the vectors and run the harness again",
    );
  }
  const given = givenBy(family, results);
  if (given.outputs.size === 0) {
    return notCheckable(results, ["it has no result for any vector", ...given.notes].join("; "));
  }
  const ended = end(given, candidatesOf(given, predictionsFor(family)));
  const isPart = given.missing.length > 0;
  // Few vectors are soon explained: a mistake is named only where most are there.
  const isThin = ended.mistakes.length > 0 && given.missing.length > given.outputs.size;
  const found: Ending = isThin ? { ...ended, verdict: "unknown", mistakes: [] } : ended;
  return {
    name: results.name,
    family: family.name,
    ...found,
    verdict: isPart && found.verdict === "matches" ? "incomplete" : found.verdict,
    agreeing: given.outputs.size - found.differs.length,
    judged: given.outputs.size,
    notes: [
      ...(isPart ? [`no result for ${list(given.missing)}`] : []),
      ...(isThin ? ["too few vectors to name a mistake"] : []),
      ...given.notes,
    ],
  };
}

/** Judges every function of a file of results. */
export function judgeResults({ functions }: VectorResults): JudgedFunction[] {
  return functions.map(vectorJudge());
}
