/**
 * The vectors in the hands of a trainer in torch: docs/exporters/agentrl_vectors.py runs a right trainer, dialects of it, and mutants; its
 * verdicts are held to those of src/vectors, and counted.
 */
import { assert, assertEquals } from "@std/assert";
import { judgeResults } from "../../src/vectors/judge.ts";
import { readResults } from "../../src/vectors/results.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import { vectorFile, vectorFileText } from "../../src/vectors/document.ts";
import { quoteNonFinite } from "../../src/tokens/json_rows.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";

/** What the harness says of a function, and what it should say. */
interface Asked {
  readonly kind: "right" | "dialect" | "mutant";
  readonly name: string;
  readonly family: string;
  /** The dialect, or names of the mistake; none: the list has no name for it. */
  readonly wanted: readonly string[];
  readonly verdict: string;
  readonly dialects: readonly string[];
  readonly mistakes: readonly string[];
  readonly differs: readonly string[];
}

const isOneOf = (wanted: readonly string[], found: readonly string[]) =>
  wanted.some((name) => found.includes(name));
const isMatch = ({ verdict }: Asked) => verdict === "matches" || verdict === "matches-but-edges";

/** A mutant that is told by its name; where there is none, by no name. */
function isNamed({ wanted, mistakes, verdict }: Asked): boolean {
  return wanted.length > 0 ? isOneOf(wanted, mistakes) : verdict === "unknown";
}

/**
 * Runs right functions, dialects and mutants through the harness.
 *
 * @param folder An empty folder.
 * @param options.runPython Runs a program of tests/python and says whether it ended well.
 */
export function holdVectors(
  folder: string,
  { runPython }: { readonly runPython: (program: string, args: readonly string[]) => boolean },
): void {
  Deno.mkdirSync(`${folder}/vectors`);
  for (const family of VECTOR_FAMILIES) {
    const text = vectorFileText(vectorFile(family));
    Deno.writeTextFileSync(`${folder}/vectors/${family.name}.json`, text);
  }
  assert(runPython("vectors_mutants.py", [`${folder}/vectors`, folder]), "the mutants ran");
  assert(runPython("vectors_adapters.py", [`${folder}/vectors`]), "the adapters bind their stubs");

  const asked: Asked[] = JSON.parse(Deno.readTextFileSync(`${folder}/verdicts.json`));
  // Numbers that are not finite are bare, as Python writes them.
  const results = JSON.parse(quoteNonFinite(Deno.readTextFileSync(`${folder}/results.json`)));
  const judged = judgeResults(readResults(results, { source: "results.json" }));
  for (const [i, { name, verdict, dialects, mistakes }] of judged.entries()) {
    if (verdict === "low-precision") continue; // The file in Python leaves that to the command.
    assertEquals(asked[i]?.verdict, verdict, name);
    assertEquals(asked[i]?.dialects.toSorted(), dialects.toSorted(), name);
    assertEquals(asked[i]?.mistakes.toSorted(), mistakes.map(({ name }) => name).toSorted(), name);
  }

  const of = (kind: Asked["kind"]) => asked.filter((one) => one.kind === kind);
  assertEquals(of("right").filter((one) => !isMatch(one)), [], "no right function is called wrong");
  const dialects = of("dialect");
  assertEquals(dialects.filter((one) => !isMatch(one) || !isOneOf(one.wanted, one.dialects)), []);
  const mutants = of("mutant");
  const told = mutants.filter(({ verdict }) => verdict !== "matches");
  const named = mutants.filter(isNamed);
  const misnamed = mutants.filter((one) => one.mistakes.length > 0 && !isNamed(one));
  const counts = ["mutants", "told from the right one", "by the right name", "by a wrong name"];
  const lines = markdownTable(
    ["family", ...counts],
    [...VECTOR_FAMILIES.map(({ name }) => name), "all"].map((family) => [
      family,
      ...[mutants, told, named, misnamed].map((all) =>
        String(all.filter((one) => family === "all" || one.family === family).length)
      ),
    ]),
    { numbers: counts },
  );
  console.log(lines.join("\n"));
  for (const { name, verdict, mistakes } of mutants.filter((one) => !isNamed(one))) {
    console.log(`${verdict}${mistakes.map((mistake) => ` ${mistake}`).join("")}: ${name}`);
  }
  console.log(`${of("right").length} right functions and ${dialects.length} dialects: none wrong`);
  assert(mutants.length >= 60 && told.length >= mutants.length - 2);
  assert(named.length >= 0.75 * mutants.length);
}
