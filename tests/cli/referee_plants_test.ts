/** The command `referee` on dumps of small Llama, Qwen2 and Qwen3 in forms that trainers write; `deno task referee-plants` has all. */
import { assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { judgeReal } from "../diagnose/referee/real_plants.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";

/** Plants whose answers come by different ways, each with a seed that chooses the architecture. */
const PLANTS: readonly (readonly [string, number])[] = [
  ["trainer at T 1.2, sampler in bf16", 41],
  ["raw log-probs of a sampler at T 0.7", 42],
  ["sampler has another token before the prompt", 42],
  ["sampler has the reference's weights", 40],
  ["another model, sampler alone", 43],
];

gpuTest("referee names what was planted in dumps of real decoders, and no other side", async () => {
  const commands = new Commands(await testGpu());
  for (const [name, seed] of PLANTS) {
    await withFolder(async (folder) => {
      const { isNamed, isExplained, document } = await judgeReal(name, seed, {
        folder,
        commands,
        count: 4,
      });
      assertEquals([isNamed, isExplained], [true, true], `${name}: ${document.verdict}`);
    });
  }
});
