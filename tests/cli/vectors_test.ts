/** The command `vectors`: files of families, and verdicts about results that Python may have written. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { command } from "../../cli/commands/vectors.ts";
import { UserError } from "../../src/core/errors.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import { vectorFileSchema } from "../../src/vectors/document.ts";
import { familyDigest } from "../../src/vectors/predictions.ts";

const run = async (flags: Readonly<Record<string, unknown>>) =>
  await command.run({ json: false, seed: 0, help: false, ...flags }, []);

/** The loss of each vector of `aggregation`, as text of JSON. */
function results(loss: (terms: readonly number[], mask: readonly number[]) => number): string {
  const family = VECTOR_FAMILIES.find(({ name }) => name === "aggregation")!;
  const entries = family.cases.map(({ id, inputs: { term, mask } }) =>
    `"${id}": {"loss": ${loss(term!.values, mask!.values)}}`
  );
  const digest = familyDigest(family);
  return `{"v": 1, "functions": [{"name": "mine", "family": "aggregation", "digest": "${digest}",
    "results": {${entries.join()}}}]}`;
}

const masked = (terms: readonly number[], mask: readonly number[], by: (count: number) => number) =>
  terms.reduce((sum, term, i) => mask[i] === 0 ? sum : sum + term, 0) /
  by(mask.reduce((sum, value) => sum + value, 0));

Deno.test("vectors --out writes a family and both schemas; --check judges results with bare NaN", async () => {
  const folder = Deno.makeTempDirSync();
  try {
    const { document } = await run({ out: `${folder}/new/vectors`, family: "aggregation" });
    const names = Array.from(Deno.readDirSync(`${folder}/new/vectors`), ({ name }) => name).sort();
    assertEquals(names, ["aggregation.json", "results.schema.json", "vectors.schema.json"]);
    const text = Deno.readTextFileSync(`${folder}/new/vectors/aggregation.json`);
    const { digest } = vectorFileSchema.parse(JSON.parse(text));
    assert(JSON.stringify(document).includes(digest));

    const path = `${folder}/results.json`;
    const judge = async (written: string) => {
      Deno.writeTextFileSync(path, written);
      return await run({ check: path });
    };
    const right = await judge(results((terms, mask) => masked(terms, mask, (n) => Math.max(n, 1))));
    assertEquals(right.exitCode, 0);
    assert(right.text.includes("matches token_mean, on all 12 vectors"), right.text);
    // 0/0 in the empty batch: NaN stands in the file as Python writes it.
    const nan = await judge(results((terms, mask) => masked(terms, mask, (n) => n)));
    assertEquals(nan.exitCode, 1);
    assert(nan.text.replaceAll(/\s+/g, " ").includes("(nan_where_empty)"), nan.text);
    const wrong = await judge(results((terms, mask) => masked(terms, mask, () => mask.length)));
    assertEquals(wrong.exitCode, 1);
    assert(wrong.text.includes("DIFFERS"), wrong.text);
    JSON.parse(JSON.stringify(wrong.document));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("vectors refuses neither and both of its flags, and files of results that are not", async () => {
  await assertRejects(() => run({}), UserError, "give --out");
  await assertRejects(() => run({ out: "a", check: "b" }), UserError, "give --out");
  await assertRejects(() => run({ check: "b", family: "kl" }), UserError, "leave --family out");
  const path = Deno.makeTempFileSync();
  try {
    for (const text of ["", "{", "[".repeat(1e5), '{"v": 1}', "null"]) {
      Deno.writeTextFileSync(path, text);
      await assertRejects(() => run({ check: path }), UserError, "Cannot");
    }
  } finally {
    Deno.removeSync(path);
  }
});
