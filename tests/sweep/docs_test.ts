/** Holds docs/sweeps.md to the code: its example is planned, and its tables name every key and form. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "yaml";
import { rulesOf } from "../../cli/sweep/cell_commands.ts";
import { AXIS_FORMS, axisValues } from "../../src/sweep/axes.ts";
import { planSweep } from "../../src/sweep/plan.ts";
import { parseSweepFile, sweepFileSchema } from "../../src/sweep/sweep_file.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { schemaRows } from "../docs/schema_table.ts";
import { statusJsonSchema } from "../../src/sweep/status_document.ts";
import { sweepJsonSchema } from "../../src/sweep/sweep_folder.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/sweeps.md", import.meta.url));

const all = (pattern: RegExp) => Array.from(PAGE.matchAll(pattern), ([, found = ""]) => found);

Deno.test("docs/sweeps.md shows a file of as many cells as it says", async () => {
  const [example] = all(/^```yaml\n(.*?)^```$/gms);
  const plan = planSweep(parseSweepFile(parse(example), "lr.yaml"), await rulesOf("train"));
  assertEquals(plan.cells.length, Number(all(/checks the file: (\d+) cells/g)[0]));
});

Deno.test("docs/sweeps.md lists every key of the file and every form of an axis", () => {
  const [file = ""] = PAGE.split("## The folder");
  const keys = Array.from(file.matchAll(/^\| `(\w+)` /gm), ([, key]) => key);
  assertEquals(keys, Object.keys(sweepFileSchema.shape));
  const forms = all(/^\| `(\{.*?\})` /gm).map((text) => parse(text) as unknown);
  for (const form of forms) axisValues(form, { source: "docs/sweeps.md", name: "axis" });
  const shown = forms.map((form) => Object.keys(form as object)[0]);
  assertEquals([...new Set(shown)], Object.keys(AXIS_FORMS));
});

Deno.test("docs/sweeps.md lists everything that a sweep's folder holds", () => {
  const listed = all(/^ {4}([\w.]+)(?:\/\w*)? {2,}\S/gm);
  const paths = Object.values(sweepPaths("s")).map((path) => path.slice(2));
  // The wish to stop is a file that comes and goes.
  const expected = paths.filter((name) => name !== "cancel.json");
  assertEquals([...listed].sort(), [...expected].sort());
});

Deno.test("docs/sweeps.md lists every key of a plan and of a status", () => {
  for (const schema of [sweepJsonSchema(), statusJsonSchema()]) {
    const rows = schemaRows(JSON.parse(JSON.stringify(schema))).map((
      [path, type, what],
    ) => [`\`${path}\``, type, what]);
    assertStringIncludes(PAGE, markdownTable(["key", "type", "what"], rows).join("\n"));
  }
});
