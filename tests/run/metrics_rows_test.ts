/** Tests of src/run/metrics_rows.ts: what is a row of ours, and what is refused. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { asMetricsRow, readMetricsRows } from "../../src/run/metrics_rows.ts";
import { withFolder } from "../files/with_folder.ts";

const [ROW = {}] = HEALTHY_REFERENCE_FILE.seeds[0]!.rows;

Deno.test("asMetricsRow() gives the metrics as they were, and NaN for what was not finite", () => {
  assertEquals(Object.entries(asMetricsRow(ROW, { source: "a" })), Object.entries(ROW));
  const row = asMetricsRow({ ...ROW, loss: null, note: "x" }, { source: "a" });
  assertEquals(row, { ...row, loss: NaN });
  assertEquals(Object.keys(row), Object.keys(ROW));
});

Deno.test("readMetricsRows() names the row and the key of what is not a row of ours", () =>
  withFolder((folder) => {
    const path = `${folder}/metrics.jsonl`;
    const { reward: _, ...without } = ROW;
    const refused: readonly (readonly [unknown, string])[] = [
      [{ ...ROW, step: 1.5 }, "row 2: step is 1.5"],
      [{ ...ROW, step: undefined }, "row 2: step is undefined"],
      [without, "row 2: reward is missing in step 0"],
      [{ ...ROW, loss: "0.1" }, 'row 2: loss is "0.1" in step 0'],
    ];
    for (const [row, sentence] of refused) {
      Deno.writeTextFileSync(path, `${JSON.stringify(ROW)}\n${JSON.stringify(row)}\n`);
      assertThrows(() => readMetricsRows(path), UserError, sentence);
    }
  }));
