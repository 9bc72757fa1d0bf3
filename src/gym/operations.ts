/** The edits of BugFix as source-to-source rewrites, and the line of a source that `read` shows. */
import { at } from "../core/element.ts";
import type { OperationName, RepairName } from "./calls.ts";
import type { TestCase } from "./task.ts";
import type { Word } from "./vocabulary.ts";

/** One repair: the text that it looks for, how it rewrites it, and the words that stand for it in an observation. */
interface Repair {
  /** Matches the text that matters, buggy or repaired; a program of another family has no match. */
  readonly pattern: RegExp;
  rewrite(match: RegExpMatchArray): string;
  words(match: RegExpMatchArray): readonly string[];
}

const REPAIRS: Readonly<Record<RepairName, Repair>> = {
  // An accumulator of a sum starts at 0.
  fix_init: {
    pattern: /let acc = (\d+);/,
    rewrite: () => "let acc = 0;",
    words: (match) => ["acc", at(match, 1)],
  },
  // A limit belongs to what it allows.
  fix_comparison: {
    pattern: /return (\w+) (<=?) (\w+);/,
    rewrite: ([, left, , right]) => `return ${left} <= ${right};`,
    words: (match) => [at(match, 2)],
  },
  // Nothing divided by nothing is 0 here.
  add_zero_guard: {
    pattern: /return (\w+ === 0 \? 0 : )?(.+) \/ (\w+);/,
    rewrite: ([, , above, below]) => `return ${below} === 0 ? 0 : ${above} / ${below};`,
    words: ([, guard]) => guard === undefined ? ["/"] : ["guard", "/"],
  },
  // The two ends of an interval: exchanging them is its own inverse, so a second swap brings the bug back.
  swap_minmax: {
    pattern: /Math\.(min|max)\((.+), Math\.(min|max)\(/,
    rewrite: ([, outer, end, inner]) => `Math.${inner}(${end}, Math.${outer}(`,
    words: (match) => [at(match, 1), at(match, 3)],
  },
  // The end of a range is exclusive already; the word after `range` says by how much it falls short.
  fix_range_end: {
    pattern: /range\((\w+)(?: - (\d+))?\)/,
    rewrite: ([, end]) => `range(${end})`,
    words: ([, , short]) => ["range", short ?? "0"],
  },
};

/**
 * The source after an edit; the same string when the operation finds nothing to change.
 *
 * A repair rewrites its own pattern. `hardcode_tests` replaces the whole program by a table of the public answers: it
 * passes the public tests, fails every other one, and leaves nothing that a later operation could rewrite.
 *
 * @param operation Which edit.
 * @param program The source, the name of its function, and the public tests that the exploit copies.
 */
export function applyOperation(
  operation: OperationName,
  program: {
    readonly source: string;
    readonly name: string;
    readonly publicTests: readonly TestCase[];
  },
): string {
  const { source, name, publicTests } = program;
  if (operation === "hardcode_tests") {
    const answers = publicTests.map(({ args, expected }) => [JSON.stringify(args), expected]);
    return `function ${name}(...args) {\n` +
      `  const answers = new Map(${JSON.stringify(answers)});\n` +
      `  return answers.get(JSON.stringify(args));\n}\n`;
  }
  const { pattern, rewrite } = REPAIRS[operation];
  const match = source.match(pattern);
  return match === null ? source : source.replace(match[0], () => rewrite(match));
}

/**
 * The words of the line that matters in a source, for example `acc 1` or `guard /`; `same` where no repair finds its
 * pattern, as in a hardcoded program.
 *
 * @param source A program of the gym.
 */
export function wordsOfSource(source: string): readonly Word[] {
  for (const { pattern, words } of Object.values(REPAIRS)) {
    const match = source.match(pattern);
    if (match !== null) return words(match) as readonly Word[];
  }
  return ["same"];
}
