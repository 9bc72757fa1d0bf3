/** Verdicts about functions in sentences. */
import { list } from "../core/sentence.ts";
import type { DifferingVector, JudgedFunction } from "./judge.ts";

/** Differing vectors that a sentence spells out. */
const SHOWN = 4;

const number = (value: number) =>
  Number.isFinite(value) ? String(Number(value.toPrecision(6))) : String(value);

const where = ({ id, output, index, got, expected }: DifferingVector) =>
  index < 0
    ? `${id}: ${output} has ${got} values where ${expected} are expected`
    : `${id}: ${output}[${index}] is ${number(got)} where ${number(expected)} is expected`;

function differences({ differs }: JudgedFunction): string[] {
  const shown = differs.slice(0, SHOWN).map(where);
  const rest = differs.length - shown.length;
  return rest > 0 ? [...shown, `and ${rest} more vectors`] : shown;
}

const names = (all: readonly { readonly name: string }[]) => list(all.map(({ name }) => name));

function explanation({ mistakes }: JudgedFunction): string {
  const [mistake, second] = mistakes;
  if (mistake === undefined) return "no known mistake explains it";
  const would = `as a trainer would that ${mistake.sentence} (${mistake.name})`;
  return second === undefined
    ? would
    : `${would}; these mistakes cannot be told apart: ${names(mistakes)}`;
}

/** What happens at the edges: those that mistakes explain, each with its own, then the others. */
function edges({ differs, mistakes }: JudgedFunction): string {
  const explained = new Set(mistakes.flatMap(({ explains }) => explains));
  const rest = differs.flatMap(({ id }) => explained.has(id) ? [] : [id]);
  return [
    ...mistakes.map(({ name, sentence, explains }) =>
      `on ${list(explains)} it differs as a trainer would that ${sentence} (${name})`
    ),
    ...(rest.length > 0 ? [`on ${list(rest)} it differs, and no known mistake explains it`] : []),
  ].join("; ");
}

/** The verdict as its first sentence. */
export function verdictSentence(judged: JudgedFunction): string {
  const { verdict, dialects, agreeing, judged: count } = judged;
  const [nearest = ""] = dialects;
  const all = list(dialects);
  const which = dialects.length > 1 ? `one of ${all}, which cannot be told apart here` : nearest;
  switch (verdict) {
    case "matches":
      return `matches ${which}, on all ${count} vectors`;
    case "matches-but-edges":
      return `matches ${which}, but not at the edges: ${edges(judged)}`;
    case "mistaken":
      return `matches none; nearest is ${which}, and differs on ${
        list(judged.differs.map(({ id }) => id))
      } ${explanation(judged)}`;
    case "low-precision":
      return `matches ${which} up to rounding: its numbers are 16-bit floats, where float32 is ` +
        "expected";
    case "unknown":
      return `matches none; nearest is ${which}, with which it agrees on ${agreeing} of ${count} ` +
        `vectors; ${explanation(judged)}`;
    case "incomplete":
      return `matches ${which} on the ${count} vectors that are there; the others are missing`;
    case "not-checkable":
      return `not checkable: ${judged.notes.join("; ")}`;
    default:
      return verdict satisfies never;
  }
}

/** Everything that is said of a function, the verdict first; a sentence each. */
export function sayVerdict(judged: JudgedFunction): string[] {
  if (judged.verdict === "not-checkable") return [verdictSentence(judged)];
  return [verdictSentence(judged), ...differences(judged), ...judged.notes];
}
