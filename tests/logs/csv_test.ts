/** CSV: quotes, empty cells, the column of the steps, W&B's panels with several runs, and files that are cut off. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { CSV, WANDB_CSV } from "../../src/logs/csv.ts";
import { allPoints, readFiles } from "./read_text.ts";

const head = (text: string) => new TextEncoder().encode(text);

Deno.test("csv reads quotes, empty cells, numbers that are not finite, and cells that are not numbers", async () => {
  const text = [
    '"step",loss,"a ""b"", c",note,kl',
    '1,0.5,1e-3,"two',
    'lines, and a ""quote""",',
    "2,nan,-inf,,-0",
    "",
    "3,None,inf,x,.5",
  ].join("\r\n") + "\r\n";
  const log = await readFiles(CSV, [text]);
  assertEquals(allPoints(log), {
    loss: [[1, 0.5], [2, NaN], [3, null]],
    'a "b", c': [[1, 0.001], [2, -Infinity], [3, Infinity]],
    kl: [[2, -0], [3, 0.5]],
  });
  assertEquals(Array.from(log.rows.lines), [2, 4, 6]);
  assertEquals(log.source.ignored, [
    { what: "cells that are not numbers", count: 2, example: 'note: two\nlines, and a "quote"' },
  ]);
});

Deno.test("csv reads semicolons and tabs, and finds the step wherever it stands", async () => {
  const semicolons = "loss;global_step\n0.5;10\n0.25;20\n";
  assertEquals(allPoints(await readFiles(CSV, [semicolons])), {
    loss: [[10, 0.5], [20, 0.25]],
  });
  const tabs = "\tStep\tloss\n0\t1\t0.5\n";
  assertEquals(allPoints(await readFiles(CSV, [tabs])), { loss: [[1, 0.5]] });
  const named = "n,loss\n4,0.5\n";
  assertEquals(
    allPoints(await readFiles(CSV, [named], { options: { stepKey: "n" } })),
    { loss: [[4, 0.5]] },
  );
});

Deno.test("csv refuses a table without steps, and a quote that is not closed, in one sentence", async () => {
  const refuses = (text: string, sentence: string) =>
    assertRejects(() => readFiles(CSV, [text]), UserError, sentence);
  await refuses(
    "a,b\n1,2\n",
    "no column counts the steps (there are a, b); say which one does with `map` COLUMN=step",
  );
  await refuses('step,a\n1,"2\n3,4\n5,6\n', "the quote that opens in line 2 is not closed");
});

Deno.test("csv reads every file that is cut off, and no value that is not in the whole one", async () => {
  const file = 'step,loss,"k,l"\n10,0.125,"3.75"\n11,12.5,-1e-7\n12,NaN,42\n';
  const whole: Record<string, (readonly [number, number | null])[]> = {
    loss: [[10, 0.125], [11, 12.5], [12, NaN]],
    "k,l": [[10, 3.75], [11, -1e-7], [12, 42]],
  };
  for (let length = 0; length <= file.length; length++) {
    try {
      const log = await readFiles(CSV, [file.slice(0, length)]);
      for (const [key, found] of Object.entries(allPoints(log))) {
        assertEquals(found, whole[key].slice(0, found.length));
      }
      if (length === file.length) assertEquals(allPoints(log), whole);
    } catch (error) {
      assert(error instanceof UserError, String(error));
      // The header alone may name no column of steps.
      assert(length < 4, `${length}: ${error.message}`);
    }
  }
});

Deno.test("csv notes columns of one name, rows without a step, and cells beyond the header", async () => {
  const log = await readFiles(CSV, ["step,a,a\n1,2,3\nx,4,5\n2,6,7,8\n"]);
  assertEquals(allPoints(log), { a: [[1, 2], [2, 6]] });
  assertEquals(log.source.ignored.map(({ what, count }) => [what, count]), [
    ["columns whose name occurs twice", 1],
    ["rows without a step", 1],
    ["cells beyond the header", 1],
  ]);
});

Deno.test("csv reads 100,000 columns", async () => {
  const names = Array.from({ length: 100_000 }, (_, i) => `k${i}`).join();
  const row = (step: number) => `${step},` + Array.from({ length: 100_000 }, () => step).join();
  const log = await readFiles(CSV, [`step,${names}\n${row(1)}\n${row(2)}\n`], {
    pieceBytes: 2 ** 16,
  });
  assertEquals(log.columns.size, 100_000);
  assertEquals(Array.from(log.columns.get("k99999")!.values), [1, 2]);
});

Deno.test("csv is known by a header of names above numbers", () => {
  assertEquals(CSV.detect(head("step,loss\n1,2\n")), 0.8);
  assertEquals(CSV.detect(head("n,loss\n1,2\n")), 0.4);
  assertEquals(CSV.detect(head(`step,${"k,".repeat(40_000)}`).slice(0, 65536)), 0.8);
  for (
    const other of [
      "",
      "hello, world\nthis is, a letter\n",
      '{"step": 1, "loss": 2}\n',
      "step:1 - actor/lr:1, b\n",
      "1,2\n3,4\n",
      "step,loss\n1\n",
      "a\0,b\n1,2\n",
    ]
  ) assertEquals(CSV.detect(head(other)), 0, other);
});

const panel = [
  '"Step","qwen - lr 1e-6 - train/loss","qwen - lr 1e-6 - train/loss__MIN","qwen - lr 1e-6 - train/loss__MAX",' +
  '"other - train/loss","other - train/loss__MIN","other - train/loss__MAX"',
  '"0","0.5","0.5","0.5","","",""',
  '"10","0.25","0.2","0.3","7","7","7"',
  '"20","","","","NaN","NaN","NaN"',
  "",
].join("\n");

Deno.test("wandb_csv reads the run that is chosen, and says which there are where none is", async () => {
  const read = (run?: string) => readFiles(WANDB_CSV, [panel], { options: { run } });
  const log = await read("qwen - lr 1e-6");
  assertEquals(allPoints(log), { "train/loss": [[0, 0.5], [10, 0.25]] });
  assertEquals(log.source.ignored, [
    { what: "columns of bounds (__MIN, __MAX)", count: 2, example: "train/loss__MIN" },
    { what: "other runs of the file", count: 1, example: "other" },
  ]);
  assertEquals(allPoints(await read("other")), { "train/loss": [[10, 7], [20, NaN]] });
  const choose = "choose one with `run` NAME: qwen - lr 1e-6, other";
  await assertRejects(() => read(), UserError, `it holds 2 runs; ${choose}`);
  await assertRejects(() => read("nobody"), UserError, `it has no run "nobody"; ${choose}`);
});

Deno.test("wandb_csv takes the run's own steps where the axis is another, and else asks for them", async () => {
  const own = '"Relative Time","a - loss","a - _step","a - _step__MIN"\n3.5,1,10,10\n4.5,2,20,20\n';
  assertEquals(allPoints(await readFiles(WANDB_CSV, [own])), { loss: [[10, 1], [20, 2]] });
  const none = '"Relative Time","a - loss"\n3.5,1\n';
  await assertRejects(
    () => readFiles(WANDB_CSV, [none]),
    UserError,
    'its x axis is "Relative Time" and no step',
  );
});

Deno.test("wandb_csv is known by its columns, before any other CSV", () => {
  assert(WANDB_CSV.detect(head(panel)) > CSV.detect(head(panel)));
  assertEquals(WANDB_CSV.detect(head("step,loss\n1,2\n")), 0);
});
