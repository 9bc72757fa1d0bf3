/** W&B's offline files: records over several blocks, nested keys, and files that are cut off or damaged. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { WANDB_FILE } from "../../src/logs/wandb_file.ts";
import { allPoints, readFiles } from "./read_text.ts";
import { bytesField, bytesOf, littleEndian, numberField, slowCrc } from "./wire_bytes.ts";

const HEADER = Uint8Array.of(0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0);
const BLOCK_BYTES = 32768;

function part(type: number, data: Uint8Array): Uint8Array {
  const checksum = slowCrc(bytesOf([type], data), 0xedb88320n);
  return bytesOf(littleEndian(checksum, 4), littleEndian(data.length, 2), [type], data);
}

/** A file of these records, split at the ends of blocks as LevelDB's log is. */
function wandbFile(records: readonly Uint8Array[]): Uint8Array {
  const pieces: Uint8Array[] = [HEADER];
  let position = HEADER.length;
  const push = (piece: Uint8Array) => {
    pieces.push(piece);
    position += piece.length;
  };
  for (const record of records) {
    for (let start = 0, isFirst = true, isLast = false; !isLast; isFirst = false) {
      let room = BLOCK_BYTES - position % BLOCK_BYTES;
      if (room < 7) push(new Uint8Array(room));
      room = BLOCK_BYTES - position % BLOCK_BYTES;
      const data = record.slice(start, start + room - 7);
      start += data.length;
      isLast = start === record.length;
      push(part(isFirst ? (isLast ? 1 : 2) : (isLast ? 4 : 3), data));
    }
  }
  return bytesOf(...pieces);
}

const item = (key: string | readonly string[], json: string) =>
  bytesOf(
    ...(typeof key === "string" ? [bytesField(1, key)] : key.map((name) => bytesField(2, name))),
    bytesField(16, json),
  );

/** A record with a row of history; its number comes first and an info last, as W&B writes them. */
function history(
  items: readonly (readonly [string | readonly string[], string])[],
  step?: Uint8Array,
): Uint8Array {
  const body = bytesOf(
    ...items.map(([key, json]) => bytesField(1, item(key, json))),
    ...(step ? [bytesField(2, step)] : []),
  );
  return bytesOf(numberField(1, 7), bytesField(2, body), bytesField(200, numberField(1, 1)));
}

Deno.test("wandb_file reads rows of history with their settings", async () => {
  const config = bytesField(
    17,
    bytesOf(
      bytesField(1, "abc123"),
      bytesField(
        4,
        bytesOf(
          bytesField(1, item("max_steps", "200")),
          bytesField(1, item("logging_steps", "5")),
          bytesField(1, item("num_generations", "8")),
          bytesField(1, item("beta", "0.0")),
          bytesField(1, item("output_dir", '"out"')),
        ),
      ),
    ),
  );
  const file = wandbFile([
    config,
    history([["train/loss", "0.25"], ["_step", "0"], ["_runtime", "12.5"], [
      "_timestamp",
      "1.7e9",
    ]]),
    bytesField(13, bytesField(3, "some console output: 0.5")),
    history([["train/loss", "NaN"], ["train/kl", '"Infinity"'], ["note", '"text"'], [
      "_step",
      "1",
    ]]),
    history([["train/loss", "null"], ["_step", "2"]]),
  ]);
  const log = await readFiles(WANDB_FILE, [file]);
  assertEquals(allPoints(log), {
    "train/loss": [[0, 0.25], [1, NaN], [2, null]],
    "train/kl": [[1, Infinity]],
    _runtime: [[0, 12.5]],
    _timestamp: [[0, 1.7e9]],
  });
  assertEquals(log.settings, { plannedSteps: 200, loggingSteps: 5, groupSize: 8, klCoef: 0 });
  assertEquals(log.source.ignored, [
    { what: "values that are text", count: 1, example: "note: text" },
  ]);
});

Deno.test("wandb_file joins nested keys, and passes over tables, pictures and lists", async () => {
  const file = wandbFile([history([
    [["rewards", "format", "mean"], "0.5"],
    ["env", '{"all": {"reward": 1, "turns": "NaN"}, "name": "x"}'],
    ["table", '{"_type": "table-file", "ncols": 3}'],
    ["list", "[1, 2]"],
    [["shown", "_type"], '"table-file"'],
    [["shown", "ncols"], "3"],
    ["_step", "4"],
  ])]);
  const log = await readFiles(WANDB_FILE, [file]);
  assertEquals(allPoints(log), {
    "rewards/format/mean": [[4, 0.5]],
    "env/all/reward": [[4, 1]],
    "env/all/turns": [[4, NaN]],
  });
  assertEquals(log.source.ignored.map(({ count }) => count), [1, 3]);
});

Deno.test("wandb_file counts steps as the trainer does where the row says it", async () => {
  const file = wandbFile([
    history([["_step", "0"], ["train/loss", "1"], ["train/global_step", "10"]]),
    history([["train/global_step", "20"], ["train/loss", "2"], ["_step", "1"]]),
    history([["eval/loss", "3"], ["_step", "2"], ["train/global_step", "20"]]),
  ]);
  const { "train/loss": loss, "eval/loss": evalLoss } = allPoints(
    await readFiles(WANDB_FILE, [file]),
  );
  assertEquals([loss, evalLoss], [[[10, 1], [20, 2]], [[20, 3]]]);
});

Deno.test("wandb_file takes the step beside the row where the row has none, also 0", async () => {
  const file = wandbFile([
    history([["loss", "1"]], new Uint8Array()),
    history([["loss", "2"]], numberField(1, 1)),
    history([["loss", "3"]]),
  ]);
  const log = await readFiles(WANDB_FILE, [file]);
  // The third has none at all and speaks of the step before.
  assertEquals(allPoints(log), { loss: [[0, 1], [1, 3]] });
});

Deno.test("wandb_file puts records together that span blocks, at every place of a block's end", async () => {
  for (const overhang of [0, 1, 5, 6, 7, 8, 9, 40]) {
    const before = bytesField(13, new Uint8Array(BLOCK_BYTES - 7 - 7 - 4 - overhang));
    const long = bytesField(13, new Uint8Array(2.5 * BLOCK_BYTES));
    const rows = [1, 2].map((step) => history([["loss", `${step / 2}`], ["_step", `${step}`]]));
    const file = wandbFile([before, rows[0], long, rows[1]]);
    const log = await readFiles(WANDB_FILE, [file], { pieceBytes: 10_000 });
    assertEquals(allPoints(log), { loss: [[1, 0.5], [2, 1]] });
  }
});

Deno.test("wandb_file reads every file that is cut off as far as it goes", async () => {
  const rows = [1, 2, 3].map((step) => history([["loss", `0.12${step}`], ["_step", `${step}`]]));
  const file = wandbFile(rows);
  const whole = [[1, 0.121], [2, 0.122], [3, 0.123]];
  let count = 0;
  for (let length = HEADER.length + 1; length <= file.length; length++) {
    const log = await readFiles(WANDB_FILE, [file.slice(0, length)], { pieceBytes: 64 });
    const found = Object.values(allPoints(log)).flat();
    assertEquals<unknown>(found, whole.slice(0, found.length));
    assert(found.length >= count);
    count = found.length;
  }
  assertEquals(count, 3);
});

Deno.test("wandb_file reads no other value after any flipped bit", async () => {
  const rows = [1, 2].map((step) => history([["loss", `0.12${step}`], ["_step", `${step}`]]));
  const file = wandbFile(rows);
  const whole = [[1, 0.121], [2, 0.122]];
  let refused = 0;
  for (let bit = HEADER.length * 8; bit < file.length * 8; bit++) {
    const bytes = file.slice();
    bytes[bit >> 3] ^= 1 << (bit & 7);
    try {
      const log = await readFiles(WANDB_FILE, [bytes], { pieceBytes: 64 });
      const found = Object.values(allPoints(log)).flat();
      // A length that grew past the end looks like a last record that is cut off.
      assert(found.length < 2);
      assertEquals<unknown>(found, whole.slice(0, found.length));
      assertEquals(log.source.ignored[0].what, "a last record that is cut off");
    } catch (error) {
      assert(error instanceof UserError, String(error));
      assert(/^Cannot read file0: record [12] at byte \d+ is damaged/.test(error.message));
      refused++;
    }
  }
  assert(refused > file.length * 7, `${refused}`);
});

Deno.test("wandb_file says what is wrong with a crashed start, another version, and parts out of order", async () => {
  const refuses = (bytes: Uint8Array, text: string) =>
    assertRejects(() => readFiles(WANDB_FILE, [bytes]), UserError, text);
  await refuses(HEADER, "the run ended before it logged anything");
  await refuses(bytesOf(HEADER.slice(0, 6), [3], [0]), "version 3");
  const row = history([["loss", "1"], ["_step", "1"]]);
  await refuses(bytesOf(HEADER, part(4, row)), "a part of kind 4 is out of place");
  await refuses(bytesOf(HEADER, part(2, row), part(1, row)), "out of place");
  await refuses(bytesOf(HEADER, part(9, row)), "out of place");
  await refuses(bytesOf(HEADER, part(1, Uint8Array.of(0x12, 0xff, 0xff))), "cut off");
});

Deno.test("wandb_file is known by its header", () => {
  assertEquals(WANDB_FILE.detect(HEADER), 1);
  assertEquals(WANDB_FILE.detect(HEADER.slice(0, 6)), 0);
  assertEquals(WANDB_FILE.detect(new TextEncoder().encode(":W&B run")), 0);
});
