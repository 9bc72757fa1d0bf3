/** Tests of `agentrl replay`: a step of a run, reproduced, and beside it the step with one stage changed. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { agentrl, assertRefused, golden } from "./command_line.ts";
import { agentrlHere } from "./in_process.ts";

const SMALL = [
  "problems=2",
  "groupSize=4",
  "evalEvery=0",
  "recordEvery=1",
].flatMap((set) => ["--set", set]);

gpuTest(
  "replay reproduces a step of a run, and shows the step with one stage changed",
  () =>
    withFolder(async (folder) => {
      const run = `${folder}/run`;
      const base = ["--base", golden("model.safetensors")];
      const trained = await agentrlHere(["train", "--out", run, "--steps", "2", ...base, ...SMALL]);
      assertEquals(trained.code, 0, trained.stderr);

      const replayed = await agentrlHere(
        ["replay", run, "--step", "1", "--replace", "lossMask=mask_shift", "--json"],
      );
      assertEquals(replayed.code, 0, replayed.stderr);
      const { isReproduced, isSampledAlike, differences, changed } = JSON.parse(replayed.stdout);
      assertEquals([isReproduced, isSampledAlike, differences], [true, true, []]);
      assert(changed.row.logp_gap > 1, "the shifted mask trains tokens that nobody sampled");

      const text = await agentrlHere(["replay", run, "--step", "1"]);
      assertStringIncludes(text.stdout, "reproduced, bit for bit");
      assertRefused(await agentrl(["replay", run, "--step", "5"]), {
        code: 2,
        sentence: /Cannot replay step 5 of .*metrics\.jsonl has 2 steps/,
      });
    }),
);

Deno.test("replay refuses what is not a run, no step and no stage", async () => {
  assertRefused(await agentrl(["replay", "nowhere", "--step", "0"]), {
    code: 2,
    sentence: /nowhere\/config\.json/,
  });
  assertRefused(await agentrl(["replay", "nowhere"]), { code: 2, sentence: /--step is required/ });
  assertRefused(await agentrl(["replay", "nowhere", "--step", "0", "--replace", "mask=healthy"]), {
    code: 2,
    sentence: /"mask" is not a stage/,
  });
});
