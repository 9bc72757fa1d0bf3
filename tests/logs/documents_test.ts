/** Tables in Markdown and in notebooks. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { MARKDOWN } from "../../src/logs/markdown.ts";
import { NOTEBOOK } from "../../src/logs/notebook.ts";
import { allPoints, readFiles } from "./read_text.ts";

const head = (text: string) => new TextEncoder().encode(text);

const issue = `
My run collapses | help!

| Step | Training Loss | reward | rewards / fmt\\_ok / mean | kl |
|-----:|:-------------:|--------|---|---|
| 1 | 0.000000 | **0.125** | -0.5 | No Log |
| 2 | -0.010000 | 0.250 | nan | 0.001 |

Versions: trl 0.99
`;

const issueValues = {
  loss: [[1, 0], [2, -0.01]],
  reward: [[1, 0.125], [2, 0.25]],
  "rewards/fmt_ok/mean": [[1, -0.5], [2, NaN]],
  kl: [[1, null], [2, 0.001]],
};

Deno.test("markdown reads the table within an issue, with the notebook's titles undone", async () => {
  const log = await readFiles(MARKDOWN, [issue]);
  assertEquals<unknown>(allPoints(log), issueValues);
  assertEquals(Array.from(log.rows.lines), [6, 7]);
  assertEquals(log.source.ignored, [
    { what: "lines of text", count: 2, example: "My run collapses | help!" },
  ]);
});

Deno.test("markdown reads every text that is cut off, and no value that is not in the whole one", async () => {
  const whole: Record<string, unknown[]> = issueValues;
  for (let length = 0; length <= issue.length; length++) {
    const log = await readFiles(MARKDOWN, [issue.slice(0, length)]);
    // A title that is cut off names another key, and has no values yet.
    for (const [key, found] of Object.entries(allPoints(log))) {
      assertEquals<unknown>(found, whole[key].slice(0, found.length));
    }
  }
});

const table = (titles: string, rows: readonly string[]) =>
  [
    `| ${titles} |`,
    `|${"---|".repeat(titles.split("|").length)}`,
    ...rows.map((row) => `| ${row} |`),
  ]
    .join("\n");

Deno.test("markdown joins tables that continue each other, and takes the last run of several", async () => {
  const read = async (...tables: readonly string[]) =>
    await readFiles(MARKDOWN, [tables.join("\n\n") + "\n"]);
  const continued = await read(
    table("step | reward", ["1 | 0.1", "2 | 0.2"]),
    table("step | reward", ["3 | 0.3"]),
  );
  assertEquals(allPoints(continued), { reward: [[1, 0.1], [2, 0.2], [3, 0.3]] });
  const afresh = await read(
    table("step | reward", ["1 | 0.1", "2 | 0.2"]),
    table("step | reward", ["1 | 0.3", "2 | 0.4"]),
  );
  assertEquals(allPoints(afresh), { reward: [[1, 0.3], [2, 0.4]] });
  assertEquals(afresh.source.ignored.map(({ what, count }) => [what, count]), [[
    "tables of another run",
    1,
  ]]);
});

const html = (titles: readonly string[], rows: readonly (readonly string[])[]) =>
  `<div><progress value='3' max='3'></progress>[3/3 00:01]</div>\n<table border="1" class="dataframe">\n` +
  `<thead>\n<tr style="text-align: left;">\n${
    titles.map((title) => `<th>${title}</th>`).join("\n")
  }</tr></thead><tbody>` +
  rows.map((row) => `<tr>\n${row.map((cell) => `<td>${cell}</td>`).join("\n")}\n</tr>`).join("\n") +
  "</tbody></table><p>";

/** A notebook with a cell of these outputs after a cell of text; texts are lists of lines, as Jupyter writes them. */
function notebook(...outputs: readonly string[]): string {
  const cells = [
    { cell_type: "markdown", metadata: {}, source: ["# Training\n", "| Step | loss |"] },
    {
      cell_type: "code",
      execution_count: 3,
      metadata: {},
      outputs: [
        { output_type: "stream", name: "stdout", text: ["Unsloth\n"] },
        ...outputs.map((text) => ({
          output_type: "display_data",
          data: {
            "text/html": text.split(/(?<=\n)/),
            "text/plain": ["<IPython.core.display.HTML object>"],
          },
          metadata: {},
        })),
      ],
      source: ["trainer.train()"],
    },
  ];
  return JSON.stringify({ cells, metadata: {}, nbformat: 4, nbformat_minor: 5 }, null, 1);
}

Deno.test("notebook reads the table of the callback, and not the one of the warm-up before it", async () => {
  const text = notebook(
    html(["Step", "Training Loss"], [["1", "2.5"], ["2", "2.25"]]),
    html(["Metric", "Value"], [["a", "1"]]),
    html(["Step", "Training Loss", "reward", "completions / mean_length", "a &amp; b", "kl"], [
      ["1", "0.000000", "0.5", "<b>200.25</b>", "1", "No Log"],
      ["2", "-0.000100", "nan", "181", "", "0.003"],
    ]),
  );
  const log = await readFiles(NOTEBOOK, [text], { pieceBytes: 100 });
  assertEquals(allPoints(log), {
    loss: [[1, 0], [2, -0.0001]],
    reward: [[1, 0.5], [2, NaN]],
    "completions/mean_length": [[1, 200.25], [2, 181]],
    "a & b": [[1, 1]],
    kl: [[1, null], [2, 0.003]],
  });
  assertEquals(Array.from(log.rows.lines), [2, 2]);
  assertEquals(log.source.ignored[0].what, "tables of another run");
});

Deno.test("notebook refuses what is cut off or has no table, in one sentence", async () => {
  const refuses = (text: string, sentence: string) =>
    assertRejects(() => readFiles(NOTEBOOK, [text], { pieceBytes: 99 }), UserError, sentence);
  await refuses(notebook().slice(0, -5), "not valid JSON; it may be cut off");
  await refuses(notebook(), "no output of the notebook is a table with a column Step");
  await refuses('{"cells": 5, "nbformat": 4}', "no output of the notebook");
  await refuses('{"cells": [null, {"outputs": [null, {"data": 1}]}]}', "no output of the notebook");
});

Deno.test("notebook takes broken HTML as it comes, in time that grows with its length", async () => {
  const junk = `<table><tr><th>Step<th>a<tr><td>1<td>2<tr>${"<".repeat(200_000)}${
    "<td>".repeat(50_000)
  }`;
  const startMs = performance.now();
  const log = await readFiles(NOTEBOOK, [notebook(junk)], { pieceBytes: 2 ** 16 });
  assertEquals(allPoints(log), { a: [[1, 2]] });
  assert(performance.now() - startMs < 5000);
});

Deno.test("documents are known by their content", () => {
  assertEquals(MARKDOWN.detect(head(issue)), 0.7);
  assertEquals(MARKDOWN.detect(head("| a | b |\n|---|---|\n| 1 | 2 |\n")), 0);
  assertEquals(MARKDOWN.detect(head("step | loss\n1 | 2\n")), 0);
  assertEquals(NOTEBOOK.detect(head(notebook())), 1);
  assertEquals(NOTEBOOK.detect(head('{"cells": []}')), 0);
  assertEquals(MARKDOWN.detect(head(notebook())), 0);
});
