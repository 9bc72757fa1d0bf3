/** Event files of a run: one a start, so that what a killed start left beyond its checkpoint is overruled. */
import { assertEquals, assertThrows } from "@std/assert";
import { readRunLog } from "../../src/files/log_source.ts";
import type { MetricsRow } from "../../src/rl/metrics.ts";
import { hasTensorboardLog, TensorboardLog } from "../../src/run/tensorboard_log.ts";
import { withFolder } from "../files/with_folder.ts";
import { allPoints } from "../logs/read_text.ts";

const row = (step: number, reward: number) => ({ step, reward }) as MetricsRow;

function start(folder: string, step: number, rewards: readonly number[]): void {
  // Every start within one second, as a loop of kills makes them.
  using log = new TensorboardLog(folder, { nowMs: () => 1.7e12 });
  log.begin(step);
  rewards.forEach((reward, i) => log.append(row(step + i, reward)));
  log.sync();
}

Deno.test("TensorboardLog gives the rows back, those of the later start where steps were redone", () =>
  withFolder(async (folder) => {
    assertEquals(hasTensorboardLog(folder), false);
    start(folder, 0, [0, 1, 2, 3]);
    start(folder, 2, [0.25]);
    start(folder, 2, [0.5, 0.75, 1]);
    assertEquals(hasTensorboardLog(folder), true);
    const log = await readRunLog(`${folder}/tensorboard`);
    assertEquals(allPoints(log), { reward: [[0, 0], [1, 1], [2, 0.5], [3, 0.75], [4, 1]] });
    assertEquals(log.source.files.length, 3);
  }));

Deno.test("TensorboardLog lets no row of a killed start shine through before the first new row", () =>
  withFolder(async (folder) => {
    start(folder, 0, [0, 1, 2, 3]);
    start(folder, 2, []);
    assertEquals(allPoints(await readRunLog(folder)), { reward: [[0, 0], [1, 1]] });
    start(folder, 0, []);
    assertEquals(allPoints(await readRunLog(folder)), { reward: [] });
  }));

Deno.test("TensorboardLog is read after a kill within a row", () =>
  withFolder(async (folder) => {
    start(folder, 0, [0, 1, 2]);
    const [{ name }] = Deno.readDirSync(`${folder}/tensorboard`);
    const path = `${folder}/tensorboard/${name}`;
    Deno.truncateSync(path, Deno.statSync(path).size - 3);
    start(folder, 1, [5]);
    assertEquals(allPoints(await readRunLog(folder)), { reward: [[0, 0], [1, 5]] });
  }));

Deno.test("TensorboardLog leaves out what is not a number, and wants begin() first", () =>
  withFolder(async (folder) => {
    using log = new TensorboardLog(folder, { nowMs: () => 0 });
    assertThrows(() => log.append(row(0, 1)), TypeError, "begin()");
    log.begin(0);
    log.append({ ...row(0, 1), eval_pass: undefined } as unknown as MetricsRow);
    assertEquals(allPoints(await readRunLog(folder)), { reward: [[0, 1]] });
  }));
