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
      for (const kind of ["kill before", "kill within", "ENOSPC", "EIO"] as const) {
        assertClean(await faultEverywhere(yardstick, { kind, fromNothing: false, limit: 3 }), 3);
      }
      let state = 1;
      const random = () => (state = state * 48271 % 2147483647) / 2147483647;
      assertClean(await killTwice(yardstick, { count: 2, random }), 2);
    }),
);
