/** Tables and binary logs with bytes changed, cut out and doubled at random: a log or a sentence, never a crash. */
import { assert } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { threefry, toUniform } from "../../src/core/rng.ts";
import { CSV, WANDB_CSV } from "../../src/logs/csv.ts";
import { MARKDOWN } from "../../src/logs/markdown.ts";
import { NOTEBOOK } from "../../src/logs/notebook.ts";
import type { LogReader } from "../../src/logs/reader.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { TENSORBOARD } from "../../src/logs/tensorboard.ts";
import { WANDB_FILE } from "../../src/logs/wandb_file.ts";
import { readFiles } from "./read_text.ts";
import { bytesField, bytesOf, frame, numberField, scalarEvent, slowCrc } from "./wire_bytes.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);

const cells = [
  {
    cell_type: "code",
    outputs: [{
      data: {
        "text/html": [
          "<table><tr><th>Step</th><th>reward</th></tr>",
          "<tr><td>1<td>0.5</tr></table>",
        ],
      },
    }],
  },
];

const row = bytesField(2, bytesField(1, bytesOf(bytesField(1, "loss"), bytesField(16, "0.5"))));
const part = bytesOf([1], row);
const checksum = Number(slowCrc(part, 0xedb88320n));

/** A valid log of each form. */
const LOGS: readonly (readonly [LogReader, Uint8Array])[] = [
  [CSV, utf8('step,"a ""b""",c\n1,0.5,nan\n2,"3",\n3,4,x\n')],
  [WANDB_CSV, utf8('"Step","r - loss","r - loss__MIN"\n"1","0.5","0.5"\n"2","","1"\n')],
  [
    MARKDOWN,
    utf8("text\n\n| Step | a \\| b | c |\n|---|:-:|---|\n| 1 | 0.5 | No Log |\n| 2 | 3 | nan |\n"),
  ],
  [NOTEBOOK, utf8(JSON.stringify({ cells, nbformat: 4 }))],
  [TENSORBOARD, bytesOf(scalarEvent(1, "loss", 0.5), scalarEvent(2, "loss", NaN))],
  [
    WANDB_FILE,
    bytesOf(
      [0x3a, 0x57, 0x26, 0x42, 0xe1, 0xbe, 0],
      new Uint8Array(Uint32Array.of(checksum).buffer),
      [row.length, 0],
      part,
    ),
  ],
];

Deno.test("the readers of tables and binary logs end damaged files in a log or in one sentence", async () => {
  let draws = 0;
  const pick = (count: number) => Math.floor(toUniform(threefry([14, 3], [draws++, 0])[0]) * count);
  for (const [reader, log] of LOGS) {
    assert(reader.detect(log) > 0, reader.form);
    let refused = 0;
    for (let trial = 0; trial < 400; trial++) {
      let bytes: Uint8Array = log.slice();
      for (let change = pick(4); change >= 0; change--) {
        const at = pick(bytes.length);
        const end = Math.min(bytes.length, at + 1 + pick(20));
        const kind = pick(3);
        if (kind === 0) bytes[at] = pick(256);
        else if (kind === 1) bytes = bytesOf(bytes.slice(0, at), bytes.slice(end));
        else bytes = bytesOf(bytes.slice(0, end), bytes.slice(at));
        if (bytes.length === 0) bytes = log.slice();
      }
      for (const { detect } of LOG_READERS) detect(bytes.slice(0, 65536));
      try {
        await readFiles(reader, [bytes], { pieceBytes: 1 + pick(200) });
      } catch (error) {
        assert(error instanceof UserError, `${reader.form}: ${error}`);
        assert(!error.message.includes("\n"), error.message);
        refused++;
      }
    }
    assert(refused < 400, `${reader.form}: everything was refused`);
  }
});

Deno.test("protocol buffers with whole checksums and random insides end in a log or in one sentence", async () => {
  let draws = 0;
  const pick = (count: number) => Math.floor(toUniform(threefry([14, 4], [draws++, 0])[0]) * count);
  let refused = 0;
  for (let trial = 0; trial < 3000; trial++) {
    // Lengths and tags that look like real ones, since noise alone ends at its first field.
    const noise = () => Uint8Array.from({ length: pick(24) }, () => pick(3) ? pick(64) : pick(256));
    const body = pick(2)
      ? bytesField(5, bytesField(1, noise()))
      : bytesOf(numberField(2, pick(9)), noise());
    try {
      await readFiles(TENSORBOARD, [frame(body)], { pieceBytes: 64 });
    } catch (error) {
      assert(error instanceof UserError, String(error));
      refused++;
    }
  }
  assert(refused > 300 && refused < 3000, `${refused}`);
});
