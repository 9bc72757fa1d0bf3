/** Logs on disk: which file of a folder is read, gzip, standard input, and what is not a log. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { openLog } from "../../src/files/log_input.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import { allPoints } from "../logs/read_text.ts";
import { bytesOf, scalarEvent } from "../logs/wire_bytes.ts";
import { withFolder } from "./with_folder.ts";

const csv = "step,loss\n1,0.5\n2,0.25\n";
const csvValues = { loss: [[1, 0.5], [2, 0.25]] };

async function gzip(text: string | Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([text as BlobPart]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Writes files, with their folders, each a second newer than the one before. */
function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  let seconds = 1.7e9;
  for (const [name, content] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeFileSync(
      path,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    Deno.utimeSync(path, seconds, seconds++);
  }
}

Deno.test("readRunLog() reads a file, whatever its name, and tells its progress in bytes", () =>
  withFolder(async (folder) => {
    writeFiles(folder, { "odd name.bin": csv });
    const seen: unknown[] = [];
    const log = await readRunLog(`${folder}/odd name.bin`, {
      onProgress: (read, total) => seen.push([read, total]),
    });
    assertEquals<unknown>(allPoints(log), csvValues);
    assertEquals(log.source.form, "csv");
    assertEquals(seen, [[csv.length, csv.length]]);
  }));

Deno.test("readRunLog() unpacks gzip by its content, and refuses what is cut off or damaged", () =>
  withFolder(async (folder) => {
    const packed = await gzip(csv);
    const path = `${folder}/log`;
    writeFiles(folder, { log: packed });
    assertEquals<unknown>(allPoints(await readRunLog(path)), csvValues);
    for (let length = 2; length < packed.length; length++) {
      Deno.writeFileSync(path, packed.slice(0, length));
      await assertRejects(() => readRunLog(path), UserError, "its gzip is cut off");
    }
    for (let byte = 10; byte < packed.length; byte++) {
      const flipped = packed.slice();
      flipped[byte] ^= 0x10;
      Deno.writeFileSync(path, flipped);
      // A bit behind the last code means nothing; every other one is seen.
      const read = readRunLog(path).then(allPoints, (error) => assert(error instanceof UserError));
      assertEquals<unknown>(await read ?? csvValues, csvValues);
    }
  }));

Deno.test("openLog() refuses a bomb of gzip while it unpacks, and a log as uniform as one can be not", () =>
  withFolder(async (folder) => {
    const drain = async (path: string) => {
      await using log = await openLog(path, { unpackedBytesAllowed: 2 ** 20 });
      let sizeBytes = 0;
      for await (const piece of log.bytes()) sizeBytes += piece.length;
      return sizeBytes;
    };
    const rows = Array.from({ length: 100_000 }, (_, step) => `{"step":${step},"reward":0}\n`);
    writeFiles(folder, {
      bomb: await gzip("\n".repeat(2 ** 24)),
      log: await gzip(rows.join("")),
    });
    await assertRejects(
      () => drain(`${folder}/bomb`),
      UserError,
      "of gzip unpack to more than",
    );
    assertEquals(await drain(`${folder}/log`), rows.join("").length);
  }));

Deno.test("readRunLog() refuses gigabytes of zeros behind gzip by their beginning", () =>
  withFolder(async (folder) => {
    writeFiles(folder, { "zeros.gz": await gzip(new Uint8Array(2 ** 26)) });
    let readBytes = 0;
    await assertRejects(
      () => readRunLog(`${folder}/zeros.gz`, { onProgress: (read) => readBytes = read }),
      UserError,
      "it is binary data",
    );
    assert(readBytes <= 2 ** 16);
  }));

Deno.test("readRunLog() ends a line of 100 MB in one sentence", () =>
  withFolder(async (folder) => {
    const file = await Deno.open(`${folder}/log.csv`, { write: true, create: true });
    await file.write(new TextEncoder().encode("step,loss\n1,2\n3,"));
    const digits = new TextEncoder().encode("4".repeat(2 ** 20));
    for (let i = 0; i < 100; i++) await file.write(digits);
    file.close();
    await assertRejects(
      () => readRunLog(`${folder}/log.csv`),
      UserError,
      "line 3 is longer than 16 MiB",
    );
  }));

Deno.test("readRunLog() reads no pipe, no device, nothing that is missing or empty, and no noise", () =>
  withFolder(async (folder) => {
    const refuses = (path: string, sentence: string) =>
      assertRejects(() => readRunLog(path), UserError, sentence);
    await new Deno.Command("mkfifo", { args: [`${folder}/pipe`] }).output();
    await refuses(`${folder}/pipe`, "it is a named pipe, but must be a regular file");
    await refuses("/dev/zero", "it is a device");
    await refuses(`${folder}/nothing`, "there is no such file or folder");
    writeFiles(folder, { empty: "", noise: crypto.getRandomValues(new Uint8Array(5000)) });
    await refuses(`${folder}/empty`, "it is empty");
    await refuses(`${folder}/noise`, "holds no metrics in a known form");
    writeFiles(folder, { rows: "step,loss\nx,1\n" });
    await refuses(`${folder}/rows`, "it is of the form csv and holds no number of any step");
  }));

Deno.test("readRunLog() refuses a form that is held whole where it is too large, before it is read", () =>
  withFolder(async (folder) => {
    const path = `${folder}/huge.ipynb`;
    const beginning = '{"cells": [{"cell_type": "code", "outputs": [';
    writeFiles(folder, { "huge.ipynb": beginning + " ".repeat(2 ** 17) });
    Deno.truncateSync(path, 3e8);
    let readBytes = 0;
    await assertRejects(
      () => readRunLog(path, { onProgress: (read) => readBytes = read }),
      UserError,
      "huge.ipynb: it holds 300.0 MB, and at most 268.4 MB are read of its form",
    );
    assert(readBytes <= 2 ** 18);
  }));

Deno.test("readRunLog() renames keys, counts steps by the key that is named, and lets the user's word outrank the file", () =>
  withFolder(async (folder) => {
    writeFiles(folder, { log: "n,rew,loss\n3,0.5,1\n4,0.25,2\n" });
    const map = new Map([["n", "step"], ["rew", "reward"]]);
    const log = await readRunLog(`${folder}/log`, { map, settings: { groupSize: 8 } });
    assertEquals(allPoints(log), { reward: [[3, 0.5], [4, 0.25]], loss: [[3, 1], [4, 2]] });
    assertEquals(log.settings, { groupSize: 8 });
    const swap = new Map([["rew", "loss"], ["loss", "rew"], ["n", "step"]]);
    assertEquals([...(await readRunLog(`${folder}/log`, { map: swap })).columns.keys()], [
      "loss",
      "rew",
    ]);
    await assertRejects(
      () => readRunLog(`${folder}/log`, { map: new Map([["step2", "step"]]) }),
      UserError,
      'it has no column "step2" to count the steps (there are n, rew, loss)',
    );
  }));

Deno.test("readRunLog() reads the event files of a folder in the order of their starts", () =>
  withFolder(async (folder) => {
    const events = (factor: number, ...steps: readonly number[]) =>
      bytesOf(...steps.map((step) => scalarEvent(step, "loss", factor * step)));
    writeFiles(folder, {
      "runs/new/events.out.tfevents.1700000300.host.9.0": events(100, 3),
      "runs/new/events.out.tfevents.1700000200.host.10.0": events(10, 2, 3, 4),
      "runs/new/events.out.tfevents.1700000100.host.8.1": events(1, 1, 2, 3, 4),
      "runs/new/events.out.tfevents.1700000050.host.8.0": "",
      "runs/old/events.out.tfevents.1600000000.host.8.0": events(1, 1),
    });
    const log = await readRunLog(folder);
    assertEquals(allPoints(log), { loss: [[1, 1], [2, 20], [3, 300]] });
    assertEquals(log.seams.map(({ lastStep, nextStep }) => [lastStep, nextStep]), [[4, 2], [4, 3]]);
    assertEquals(log.source.files.map((path) => path.split(".").at(-4)), [
      "1700000100",
      "1700000200",
      "1700000300",
    ]);
    assertEquals(log.source.ignored, [{
      what: "other logs in the folder",
      count: 1,
      example: `${folder}/runs/old/events.out.tfevents.1600000000.host.8.0`,
    }]);
  }));
