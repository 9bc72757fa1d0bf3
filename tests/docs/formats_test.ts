/** Holds docs/formats.md to the readers: the forms that it lists, its example, the schema and the exporters. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { z } from "zod";
import { allSchema } from "../../src/bench/documents.ts";
import { comparisonJsonSchema } from "../../src/compare/comparison_schema.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { commonDumpSchema } from "../../src/tokens/common_dump_row.ts";
import { refereeJsonSchema } from "../../src/diagnose/referee/report_schema.ts";
import { TOKEN_READERS } from "../../src/tokens/token_readers.ts";
import { readDump } from "../tokens/read_dump.ts";
import { schemaRows } from "./schema_table.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/formats.md", import.meta.url));
const [EXAMPLE = "", SCHEMA = ""] = Array.from(
  PAGE.matchAll(/^```json\n(.*?)^```$/gms),
  ([, block = ""]) => block,
);

Deno.test("docs/formats.md lists every form of token dumps", () => {
  const [dumps = ""] = PAGE.split("## Comparisons");
  const forms = Array.from(dumps.matchAll(/^\| `(\w+)` /gm), ([, form]) => form);
  assertEquals(forms, TOKEN_READERS.map(({ form }) => form));
});

Deno.test("docs/formats.md shows a row of the common dump that is read without a word", async () => {
  const { form, sequences, ignored } = await readDump(`${JSON.stringify(JSON.parse(EXAMPLE))}\n`);
  assertEquals([form, sequences.length, ignored], ["common_dump", 1, {}]);
});

Deno.test("docs/formats.md shows the schema of the common dump", () => {
  assertEquals(JSON.parse(SCHEMA), commonDumpSchema());
});

Deno.test("docs/formats.md links every exporter, and docs/vectors.md those that answer vectors", () => {
  const folder = new URL("../../docs/exporters/", import.meta.url);
  const files = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => name.endsWith(".py"));
  const vectors = Deno.readTextFileSync(new URL("../../docs/vectors.md", import.meta.url));
  const [ofDumps, ofVectors] = [PAGE, vectors].map((page) =>
    Array.from(page.matchAll(/\(exporters\/(\w+\.py)\)/g), ([, name]) => name)
  );
  const answers = (name: string) => name.endsWith("_vectors.py");
  assertEquals(ofDumps.sort(), files.filter((name) => !answers(name)).sort());
  assertEquals([...new Set(ofVectors)].sort(), files.filter(answers).sort());
});

Deno.test("docs/formats.md lists every key of a comparison, and the schema beside it is the one that is made", () => {
  const schema = comparisonJsonSchema();
  const rows = schemaRows(schema).map(([path, type, what]) => [`\`${path}\``, type, what]);
  assert(rows.length > 90);
  const [, comparisons = ""] = PAGE.split("## Comparisons");
  assertStringIncludes(comparisons, markdownTable(["key", "type", "what"], rows).join("\n"));
  const path = new URL("../../docs/examples/comparison.schema.json", import.meta.url);
  assertEquals(JSON.parse(Deno.readTextFileSync(path)), JSON.parse(JSON.stringify(schema)));
});

Deno.test("docs/formats.md lists every key of what the referee writes", () => {
  const rows = schemaRows(refereeJsonSchema()).map(([path, type, what]) => [
    `\`${path}\``,
    type,
    what,
  ]);
  const [, referee = ""] = PAGE.split("## The referee");
  assertStringIncludes(referee, markdownTable(["key", "type", "what"], rows).join("\n"));
});

Deno.test("docs/formats.md lists the keys of all suites in one document", () => {
  const rows = schemaRows(
    z.toJSONSchema(allSchema, { io: "input" }) as Parameters<typeof schemaRows>[0],
  )
    .map(([path, type, what]) => [`\`${path}\``, type, what]);
  const [, timings = ""] = PAGE.split("## Timings");
  assertStringIncludes(timings, markdownTable(["key", "type", "what"], rows).join("\n"));
});
