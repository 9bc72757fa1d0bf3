/** Tests of logs that grow: what is read on is what a reading from the beginning gives, whatever happens to the file. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { GrowingLog } from "../../src/files/growing_log.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import { withFolder } from "./with_folder.ts";

const row = (step: number, more: object = {}) =>
  `${JSON.stringify({ step, reward: step / 7, loss: step % 3 ? 0.5 : null, ...more })}\n`;
const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => row(from + i)).join("");

/** Does something to a file, and holds what is read on to a reading from the beginning, and earlier logs to what they were. */
async function holds(path: string, changes: readonly (() => void)[]): Promise<void> {
  await using log = new GrowingLog(path, { leastBytes: 200 });
  const earlier: { readonly log: unknown; readonly text: string }[] = [];
  for (const [i, change] of changes.entries()) {
    change();
    const [grown, whole] = [await log.read(), await readRunLog(path)];
    assertEquals(grown, whole, `after change ${i}`);
    earlier.push({ log: grown, text: Deno.inspect(grown, { depth: 9 }) });
  }
  for (const { log: before, text } of earlier) {
    assertEquals(Deno.inspect(before, { depth: 9 }), text);
  }
}

Deno.test("GrowingLog reads on what a reading from the beginning gives", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    const append = (text: string) => Deno.writeTextFileSync(path, text, { append: true });
    await holds(path, [
      () => append(rows(0, 2)),
      () => append(rows(2, 90)),
      () => {},
      () => append(row(90) + row(91).trimEnd()), // Whole, but for its line feed.
      () => {},
      () => append(`\n${row(92, { new_key: 1 })}`),
      () => append(rows(60, 70)), // Set back.
      () => append("nonsense\n\n" + row(70, { text: "x" })),
      () => append(rows(71, 9000)), // More than is read at once.
      () => append('{"step":9000,"loss":NaN}\r\n{"step":9001,"loss":1}\r\n'),
    ]);
  }));

Deno.test("GrowingLog waits for the end of a half-written row", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    Deno.writeTextFileSync(path, rows(0, 90) + row(90).slice(0, 9));
    await using log = new GrowingLog(path, { leastBytes: 200 });
    assertEquals((await log.read()).rows.count, 90);
    Deno.writeTextFileSync(path, row(90).slice(9, -1), { append: true });
    assertEquals((await log.read()).rows.count, 91);
    Deno.writeTextFileSync(path, `\n${row(91)}`, { append: true });
    assertEquals((await log.read()).rows.count, 92);
  }));

Deno.test("GrowingLog begins again where a file was cut, replaced or written over", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    const write = (text: string) => Deno.writeTextFileSync(path, text);
    await holds(path, [
      () => write(rows(0, 100)),
      () => write(rows(0, 80)), // Cut.
      () => write(rows(100, 400)), // Written over by what is longer.
      () => {
        Deno.writeTextFileSync(`${folder}/new`, rows(5, 500));
        Deno.renameSync(`${folder}/new`, path);
      },
      () => write(rows(0, 2)), // Too short to be read on.
      () => write(rows(0, 300)),
      () => write(`step,loss\n${Array.from({ length: 99 }, (_, i) => `${i},1\n`).join("")}`),
    ]);
    await using log = new GrowingLog(path, { leastBytes: 200 });
    write(rows(0, 100));
    await log.read();
    Deno.removeSync(path);
    await assertRejects(() => log.read(), UserError, "no such file");
    write(rows(0, 101));
    assertEquals((await log.read()).rows.count, 101);
  }));
