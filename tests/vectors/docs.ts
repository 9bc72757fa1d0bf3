/** The part of docs/vectors.md about families, and the schemas in docs/formats.md, as the sources have them. */
import { vectorFileJsonSchema } from "../../src/vectors/document.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import type { Family } from "../../src/vectors/family.ts";
import { resultsJsonSchema } from "../../src/vectors/results.ts";

const table = (rows: readonly (readonly string[])[]) =>
  rows.map((cells) => `| ${cells.join(" | ")} |`).join("\n");

function familyText({ name, sentence, inputs, config, outputs, dialects, mistakes }: Family) {
  const named = (all: Readonly<Record<string, string>>) =>
    Object.entries(all).map(([key, text]) => `\`${key}\` (${text})`).join(", ");
  const settings = Object.keys(config).length === 0 ? "" : `; numbers: ${named(config)}`;
  return [
    `### ${name}`,
    `${sentence[0]?.toUpperCase()}${sentence.slice(1)}. Inputs: ${named(inputs)}${settings}. ` +
    `Outputs: ${named(outputs)}.`,
    table([
      ["dialect", "definition", "used by"],
      ["---", "---", "---"],
      ...dialects.map((dialect) => [
        `\`${dialect.name}\``,
        dialect.sentence,
        dialect.usedBy.join("; "),
      ]),
    ]),
    `Mistakes: ${mistakes.map((mistake) => `\`${mistake.name}\``).join(", ")}.`,
  ].join("\n\n");
}

/** The section of docs/vectors.md, before it is formatted. */
export const familiesText = (): string => VECTOR_FAMILIES.map(familyText).join("\n\n");

const START = "<!-- families -->";
const END = "<!-- end of families -->";

/** The text between the marks. */
export function sectionOf(page: string): string {
  return page.slice(page.indexOf(START) + START.length, page.indexOf(END)).trim();
}

/** Writes both pages; run `deno fmt` on them afterwards. */
if (import.meta.main) {
  const url = (path: string) => new URL(`../../docs/${path}`, import.meta.url);
  const page = Deno.readTextFileSync(url("vectors.md"));
  Deno.writeTextFileSync(
    url("vectors.md"),
    page.replace(sectionOf(page), () => familiesText()),
  );
  const formats = Deno.readTextFileSync(url("formats.md"));
  const schemas = [vectorFileJsonSchema(), resultsJsonSchema()].values();
  Deno.writeTextFileSync(
    url("formats.md"),
    formats.replace(/(?<=<!-- vectors -->[^]*)```json\n[^]*?\n```/g, () => {
      const { value } = schemas.next();
      return "```json\n" + JSON.stringify(value, null, 2) + "\n```";
    }),
  );
}
