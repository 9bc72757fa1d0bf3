/** The short form of tests/hostile/kill.ts: faults at some of the file operations of a run. */
import { assert, assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { faultEverywhere, killTwice, makeYardstick, type Tally } from "./kill.ts";

function assertClean({ tried, different, leftovers, traces, notes }: Tally, atLeast: number): void {
  assert(tried >= atLeast, `${tried} faults were met`);
  assertEquals([different, leftovers, traces], [0, 0, 0], notes.join("\n"));
}

gpuTest(
  "a run killed at any file operation, or on a full or failing disk, goes on to the same bits",
  () =>
    withFolder(async (folder) => {
      const yardstick = await makeYardstick(new Commands(await testGpu()), folder);
      // Strides that share no factor with the operations of a step, so that each kind meets others.
      const plans = [["kill before", 13], ["kill within", 11], ["ENOSPC", 17], [
        "EIO",
        19,
      ]] as const;
      for (const [kind, stride] of plans) {
        const tally = await faultEverywhere(yardstick, { kind, fromNothing: false, stride });
        assertClean(tally, 2);
      }
      let state = 1;
      const random = () => (state = state * 48271 % 2147483647) / 2147483647;
      assertClean(await killTwice(yardstick, { count: 2, random }), 2);
    }),
);
