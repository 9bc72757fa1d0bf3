/** Tests of comparisons on a terminal: every line fits 50, 80 and 120 columns, and says what it must. */
import { assert, assertStringIncludes } from "@std/assert";
import { groupsText, runsText } from "../../cli/compare_text.ts";
import { readComparison } from "../../src/report/files/comparison.ts";
import { writeSyntheticSweep } from "../compare/synthetic_runs.ts";
import { withFolder } from "../files/with_folder.ts";

const WIDTHS = [50, 80, 120];

function assertFits(text: string, columns: number): void {
  for (const line of text.split("\n")) {
    // A path is one word.
    const isOneWord = !line.trim().includes(" ");
    assert(line.length <= columns || isOneWord, `${columns}: ${line}`);
  }
}

Deno.test("groupsText() fits its columns, and says which differ and what is not claimed", () =>
  withFolder(async (folder) => {
    const name = "a_long_name_of_an_algorithm";
    writeSyntheticSweep(folder, {
      axes: { algorithm: ["grpo", "rloo"], lr: [0.001, 0.01] },
      seeds: 6,
      scoreOf: ({ algorithm }, seed) => (algorithm === "grpo" ? 0.8 : 0.3) + seed / 100,
      rowsOf: ({ algorithm, lr }) => algorithm === "rloo" && lr === 0.01 ? 3 : undefined,
    });
    const { comparison } = await readComparison([folder]);
    assert(comparison.kind === "seeds");
    const [first, ...others] = comparison.groups;
    const long = { ...comparison, groups: [{ ...first, name }, ...others] };
    for (const columns of WIDTHS) {
      const text = groupsText(long, columns);
      assertFits(text, columns);
      for (
        const part of ["Differ", "Not told apart", "Not claimed", "Settings that differ", name]
      ) {
        assertStringIncludes(text, part);
      }
    }
    assertStringIncludes(groupsText(comparison, 120), "\n  group ");
  }));

Deno.test("runsText() fits its columns, also with the definitions of two frameworks", () =>
  withFolder(async (folder) => {
    const verl = Array.from({ length: 20 }, (_, step) => ({
      step,
      "critic/score/mean": 0.5,
      "critic/rewards/mean": 0.4,
      "actor/pg_loss": 0.1,
      "actor/entropy": 1,
      "actor/grad_norm": 0.5,
      "response_length/mean": 100,
    }));
    Deno.writeTextFileSync(
      `${folder}/verl.jsonl`,
      verl.map((row) => `${JSON.stringify(row)}\n`).join(""),
    );
    const { comparison } = await readComparison([
      "docs/examples/trl_run",
      `${folder}/verl.jsonl`,
    ]);
    assert(comparison.kind === "steps");
    for (const columns of WIDTHS) {
      const text = comparison.pairs.map((pair) => runsText(pair, columns)).join("\n");
      assertFits(text, columns);
      assertStringIncludes(text, "Not comparable: the definitions differ");
      assertStringIncludes(text, "Steps cannot be aligned");
    }
  }));
