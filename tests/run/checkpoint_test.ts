/** Tests of src/run/checkpoint.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { type ModelConfig, parameterLayout } from "../../src/model/config.ts";
import type { TensorFile } from "../../src/model/safetensors.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/run/checkpoint.ts";
import { readTensorFile, writeTensorFile } from "../../src/files/tensor_file.ts";
import { replaceAscii } from "../e2e/damaged_files.ts";
import { golden } from "../e2e/command_line.ts";
import { withFolder } from "../files/with_folder.ts";

/** Two heads, so that a reader which forgets the head count is seen. */
const CONFIG: ModelConfig = {
  vocabSize: 7,
  width: 16,
  headCount: 2,
  feedForwardWidth: 32,
  layerCount: 2,
};
const W = parameterLayout(CONFIG).parameterCount;
const numbers = (start: number) => Float32Array.from({ length: W }, (_, w) => start + w / 8);
const STATE = { baseline: 0.25, order: [2, 0, 1], note: "é" };

Deno.test("readCheckpoint() returns what writeCheckpoint() was given", () =>
  withFolder((folder) => {
    const path = `${folder}/step-3.safetensors`;
    const checkpoint = {
      config: CONFIG,
      weights_W: numbers(1),
      step: 3,
      moments: [numbers(-5), numbers(1000)] as const,
      state: STATE,
    };
    writeCheckpoint(path, checkpoint);
    assertEquals(readCheckpoint(path), { ...checkpoint, isVerified: true });
    const { tensors } = readTensorFile(path);
    assertEquals(tensors.get("adam.second/ln.bias")?.shape, [16]);
    assertEquals(Array.from(Deno.readDirSync(folder)).length, 1);
  }));

Deno.test("readCheckpoint() takes bare weights of 4 heads when no metadata says otherwise", () =>
  withFolder((folder) => {
    const path = `${folder}/model`;
    const config = { ...CONFIG, headCount: 4 };
    const { parameterCount } = parameterLayout(config);
    const weights_W = new Float32Array(parameterCount).fill(0.5);
    writeCheckpoint(path, { config, weights_W, step: 0 });
    writeTensorFile(path, { tensors: readTensorFile(path).tensors, metadata: {} });
    assertEquals(readCheckpoint(path), { config, weights_W, step: 0, isVerified: true });
  }));

Deno.test("readCheckpoint() says what is wrong with metadata, moments and sizes", () =>
  withFolder((folder) => {
    const path = `${folder}/model`;
    const cases: readonly (readonly [string, (file: TensorFile) => TensorFile, 1?])[] = [
      [
        "it has format version 2, this program reads version 1",
        (f) => ({ ...f, metadata: { ...f.metadata, format_version: "2" } }),
      ],
      [
        'its metadata "head_count" is "two", but must be a whole number',
        (f) => ({ ...f, metadata: { ...f.metadata, head_count: "two" } }),
      ],
      [
        "width 16 over 3 heads",
        (f) => ({ ...f, metadata: { ...f.metadata, head_count: "3" } }),
      ],
      [
        'its metadata "state" is not a JSON object',
        (f) => ({ ...f, metadata: { ...f.metadata, state: "[1]" } }),
      ],
      [
        'its metadata "state" is not valid JSON (',
        (f) => ({ ...f, metadata: { ...f.metadata, state: "{" } }),
      ],
      [
        'has no parameter "adam.second/ln.bias"',
        ({ tensors, metadata }) => {
          const rest = [...tensors].filter(([name]) => name !== "adam.second/ln.bias");
          return { tensors: new Map(rest), metadata };
        },
      ],
      [
        "holds NaN at entry 2",
        (f) => {
          const moment = f.tensors.get("adam.first/ln.bias");
          if (moment) moment.data[2] = NaN;
          return f;
        },
        1,
      ],
    ];
    for (const [sentence, change, exitCode = 2] of cases) {
      writeCheckpoint(path, {
        config: CONFIG,
        weights_W: numbers(1),
        step: 3,
        moments: [numbers(2), numbers(3)],
        state: STATE,
      });
      writeTensorFile(path, change(readTensorFile(path)));
      const error = assertThrows(() => readCheckpoint(path), UserError, sentence);
      assertEquals(error.exitCode, exitCode);
      assertEquals(error.message.startsWith(`Cannot use checkpoint ${path}: `), true);
    }
  }));

Deno.test("readCheckpoint() refuses a checkpoint with any bit of its numbers or texts changed", () =>
  withFolder((folder) => {
    const path = `${folder}/step-3.safetensors`;
    const state = { step: 3, adamStep: 6, baseline: 0 };
    const moments = [numbers(-5), numbers(1000)] as const;
    writeCheckpoint(path, { config: CONFIG, weights_W: numbers(1), step: 3, moments, state });
    const bytes = Deno.readFileSync(path);
    const headerBytes = 8 + new DataView(bytes.buffer).getUint32(0, true);
    let accepted = 0;
    const tries = 400;
    for (let i = 0; i < tries; i++) {
      const changed = bytes.slice();
      // Bits spread over the whole data section; a change that makes no number is refused as such.
      const bit = Math.floor((i + 0.5) / tries * 8 * (bytes.length - headerBytes));
      changed[headerBytes + (bit >> 3)] ^= 1 << (bit & 7);
      Deno.writeFileSync(path, changed);
      const error = assertThrows(() => readCheckpoint(path), UserError, "Cannot use");
      accepted += Number(!error.message.includes("SHA-256"));
    }
    assertEquals(accepted, 0);
    for (
      const [from, to] of [['"step":"3"', '"step":"4"'], ['adamStep\\":6', 'adamStep\\":0']]
    ) {
      Deno.writeFileSync(path, replaceAscii(bytes, from, to));
      assertThrows(() => readCheckpoint(path), UserError, "SHA-256");
    }
  }));

Deno.test("readCheckpoint() reads a file of an earlier version, and knows that it is unverified", () => {
  const checkpoint = readCheckpoint(golden("model.safetensors"));
  assertEquals([checkpoint.isVerified, checkpoint.config.headCount], [false, 4]);
});
