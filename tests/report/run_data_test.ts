/** Tests of reading what a report shows: runs with and without their files, and what lies at a path. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { readContent } from "../../src/report/files/content.ts";
import { readRun } from "../../src/report/files/run.ts";
import { withFolder } from "../files/with_folder.ts";
import { writeFaults, writeLab, writeMatrix, writeRun } from "./fixture.ts";

Deno.test("readRun() reads a whole run", async () => {
  await withFolder((folder) => {
    writeRun(`${folder}/run/`);
    const run = readRun(`${folder}/run/`);
    assertEquals([run.name, run.stepCount, run.settings?.config.algorithm], ["run", 24, "grpo"]);
    assertEquals(run.metrics.get("eval_pass"), [[0, 0.5], [8, 0.5], [16, 0.5]]);
    assertEquals([run.checks.length, run.episodes.length], [3, 8]);
    assertEquals([run.checkpoints, run.recorded.map(({ step }) => step)], [[0, 10], [5]]);
  });
});

Deno.test("readRun() reads another program's JSONL: no steps, null for NaN, texts skipped", async () => {
  await withFolder((folder) => {
    const file = `${folder}/theirs.jsonl`;
    Deno.writeTextFileSync(file, `{"loss": 1, "note": "a"}\n{"loss": null}\n{"lo`);
    const { name, stepCount, metrics, settings } = readRun(file);
    assertEquals([name, stepCount, settings], ["theirs", 2, undefined]);
    assertEquals([...metrics], [["loss", [[0, 1], [1, NaN]]]]);
  });
});

Deno.test("readRun() refuses an episode whose arrays disagree", async () => {
  await withFolder((folder) => {
    writeRun(folder);
    const row = {
      step: 0,
      episode: 0,
      group: 0,
      tokens: [1],
      owners: [1, 2],
      logps: [0],
      reward: 0,
    };
    Deno.writeTextFileSync(`${folder}/episodes.jsonl`, `${JSON.stringify(row)}\n`);
    assertThrows(
      () => readRun(folder),
      UserError,
      "row 1: its content must hold as many owners and logps as tokens",
    );
  });
});

Deno.test("readContent() knows each kind of input by what lies there", async () => {
  await withFolder(async (folder) => {
    writeRun(`${folder}/run`);
    writeFaults(`${folder}/faults`);
    writeMatrix(`${folder}/matrix.json`);
    writeLab(`${folder}/lab`);
    Deno.writeTextFileSync(`${folder}/lab/report.html`, "an earlier report");
    const paths = ["run", "faults", "matrix.json", "lab"].map((name) => `${folder}/${name}`);
    const content = await readContent(paths);
    assertEquals([content.runs.length, content.lab.length, content.bench.length], [1, 1, 0]);
    assertEquals([content.faults?.runs.size, content.matrix?.rows.length], [3, 2]);
    // A lab may keep all of it in its folder.
    writeFaults(`${folder}/lab/faults`);
    writeMatrix(`${folder}/lab/matrix.json`);
    const lab = await readContent([`${folder}/lab`]);
    assertEquals([lab.lab.length, lab.faults?.runs.size, lab.matrix?.rows.length], [1, 3, 2]);
  });
});
