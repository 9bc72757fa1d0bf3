/** Memory over many replays, looked at in a process of its own: other tests would move the resident set. */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";

/**
 * Half of the smallest leak that must be found: of one command encoder (about 2 KiB) a submit, 4 MiB in two rounds; one
 * uniform block (256 bytes) a replay would add 10 MiB. The allocator's own noise, after a collection of garbage, is below
 * 1 MiB.
 */
const RESIDENT_BOUND_BYTES = 2 * 2 ** 20;

Deno.test("10,000 replays of a small list grow neither the resident set nor the live buffers", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--quiet",
      "--frozen",
      "-A",
      fileURLToPath(new URL("resident_set.ts", import.meta.url)),
    ],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { grownBytes, created } = JSON.parse(new TextDecoder().decode(stdout));
  assert(grownBytes <= RESIDENT_BOUND_BYTES, `it grew by ${grownBytes} bytes`);
  assertEquals(created, 0);
});
