/** Holds docs/vectors.md and the schemas of docs/formats.md to the sources; `deno run -A tests/vectors/docs.ts` writes both. */
import { assertEquals } from "@std/assert";
import { vectorFileJsonSchema } from "../../src/vectors/document.ts";
import { resultsJsonSchema } from "../../src/vectors/results.ts";
import { familiesText, sectionOf } from "../vectors/docs.ts";

const read = (page: string) =>
  Deno.readTextFileSync(new URL(`../../docs/${page}`, import.meta.url));

/** A page without what `deno fmt` decides: line breaks, and the widths of tables. */
const plain = (text: string) => text.replaceAll(/[\s-]+/g, " ").trim();

Deno.test("docs/vectors.md lists every family with its dialects and mistakes", () => {
  assertEquals(plain(sectionOf(read("vectors.md"))), plain(familiesText()));
});

Deno.test("docs/formats.md shows the schemas of vectors and results", () => {
  const [, part = ""] = read("formats.md").split("<!-- vectors -->");
  const shown = Array.from(part.matchAll(/^```json\n(.*?)^```$/gms), ([, block = ""]) => block);
  assertEquals(
    shown.map((block) => JSON.parse(block)),
    [
      vectorFileJsonSchema(),
      resultsJsonSchema(),
    ].map((schema) => JSON.parse(JSON.stringify(schema))),
  );
});
