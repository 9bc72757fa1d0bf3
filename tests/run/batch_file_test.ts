/** Tests of src/run/batch_file.ts and src/run/score_file.ts; what they refuse is tested through the command line. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { Tensor } from "../../src/model/safetensors.ts";
import { packBatchFile, readBatchFile } from "../../src/run/batch_file.ts";
import { scoreTensors } from "../../src/run/score_file.ts";
import { writeTensorFile } from "../../src/files/tensor_file.ts";
import { golden } from "../e2e/command_line.ts";
import { readGolden } from "../reference/golden.ts";
import { withFolder } from "../files/with_folder.ts";

function i32(shape: number[], values: number[]): Tensor {
  return { dtype: "I32", shape, data: Int32Array.from(values) };
}

/** Two episodes of 3 and 1 tokens in 5 columns, of a vocabulary of 9. */
function writeSmallBatch(folder: string, more: [string, Tensor][] = []): string {
  const path = `${folder}/batch`;
  const tensors = new Map([
    ["ids", i32([2, 5], [1, 2, 3, 8, 8, 4, 0, 0, 0, 0])],
    ["owner", i32([2, 5], [1, 2, 3, 0, 0, 2, 0, 0, 0, 0])],
    ...more,
  ]);
  writeTensorFile(path, { tensors, metadata: {} });
  return path;
}

Deno.test("readBatchFile() reads ids and owners alone, and derives the mask from the owners", () =>
  withFolder((folder) => {
    const batch = readBatchFile(writeSmallBatch(folder), { vocabSize: 9 });
    assertEquals([batch.episodeCount, batch.columnCount], [2, 5]);
    assertEquals(batch.ids_B.map((ids) => [...ids]), [[1, 2, 3], [4]]);
    // Column 0 is about the policy's token at position 1. The second episode's own token has no column.
    assertEquals([...batch.actionMask_BC], [1, 0, 0, 0, 0, 0, 0, 0]);
    assertEquals(batch.advantages_B, undefined);
    const packed = packBatchFile(batch, { vocabSize: 9 });
    assertEquals([packed.rowCount, packed.columnCount], [4, 4]);
  }));

Deno.test("readBatchFile() reads every array of the golden batch, whose mask is the policy's targets", () =>
  withFolder((folder) => {
    const path = golden("batch.safetensors");
    const batch = readBatchFile(path, { vocabSize: 60 });
    const expected = readGolden("batch");
    const same = (found: ArrayLike<number> | undefined, name: string) =>
      assertEquals(Array.from(found ?? []), Array.from(expected[name]), name);
    same(batch.advantages_B, "advantages");
    same(batch.oldLogp_BC, "old_logp");
    same(batch.refLogp_BC, "ref_logp");
    same(batch.sampleLogp_BC, "sample_logp");
    same(batch.rewards_B, "rewards");
    same(batch.actionMask_BC, "action_mask");
    const { ids_BT, owner_BT } = batch;
    const tensors = new Map([
      ["ids", i32([32, 41], [...ids_BT])],
      ["owner", i32([32, 41], [...owner_BT])],
    ]);
    writeTensorFile(`${folder}/bare`, { tensors, metadata: {} });
    same(readBatchFile(`${folder}/bare`, { vocabSize: 60 }).actionMask_BC, "action_mask");
  }));

Deno.test("readBatchFile() takes a mask of 0 and 1 on tokens alone", () =>
  withFolder((folder) => {
    const read = (mask: readonly number[]) => {
      const data = Float32Array.from(mask);
      const path = writeSmallBatch(folder, [["action_mask", {
        dtype: "F32",
        shape: [2, 4],
        data,
      }]]);
      return readBatchFile(path, { vocabSize: 9 }).actionMask_BC;
    };
    // Any token that is there may be trained, also the prompt's and the tools'.
    assertEquals([...read([1, 1, 0, 0, 0, 0, 0, 0])], [1, 1, 0, 0, 0, 0, 0, 0]);
    const refused: readonly (readonly [readonly number[], string])[] = [
      [[1, 1, 1, 0, 0, 0, 0, 0], "episode 0, position 2 is 1, but must be 0 there"],
      [[1, 1, 0, 1, 0, 0, 0, 0], "episode 0, position 3 is 1, but must be 0 there"],
      [[1, 1, 0, 0, 1, 0, 0, 0], "episode 1, position 0 is 1, but must be 0 there"],
      [[1, 0.5, 0, 0, 0, 0, 0, 0], "episode 0, position 1 is 0.5, but must be 0 or 1"],
      [[1, 2, 0, 0, 0, 0, 0, 0], "episode 0, position 1 is 2, but must be 0 or 1"],
      [[-1, 0, 0, 0, 0, 0, 0, 0], "episode 0, position 0 is -1, but must be 0 or 1"],
    ];
    for (const [mask, sentence] of refused) assertThrows(() => read(mask), UserError, sentence);
  }));

Deno.test("scoreTensors() leaves zeros where there is no target and refuses what is not finite", () =>
  withFolder((folder) => {
    const batch = readBatchFile(writeSmallBatch(folder), { vocabSize: 9 });
    const scores = {
      logp_N: Float32Array.of(-1, -2, NaN, NaN), // The rows of each episode's last token have no target.
      entropy_N: Float32Array.of(1, 2, 3, 4),
      logits_NV: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8),
    };
    const tensors = scoreTensors(batch, scores);
    const values = (name: string) => [...tensors.get(name)?.data ?? []];
    assertEquals(values("logp"), [-1, -2, 0, 0, 0, 0, 0, 0]);
    assertEquals(values("entropy"), [1, 2, 0, 0, 0, 0, 0, 0]);
    assertEquals(tensors.get("logits")?.shape, [2, 5, 2]);
    assertEquals(values("logits"), [1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 7, 8, ...Array(8).fill(0)]);
    const overflow = { ...scores, entropy_N: Float32Array.of(1, Infinity, 3, 4) };
    const error = assertThrows(
      () => scoreTensors(batch, overflow),
      UserError,
      "the entropy of episode 0, position 1 is Infinity",
    );
    assertEquals(error.exitCode, 1);
  }));
