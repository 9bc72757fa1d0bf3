/** Holds the five-call bandit to the tutorial's digits and to central differences. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { BANDIT_POLICY, banditErrors, DETACH } from "../../src/lab/detach.ts";
import { createLabContext } from "../../src/lab/experiment.ts";

Deno.test("banditErrors() of infinitely many draws are 0 and the tutorial's 1.538", () => {
  const { detached, attached } = banditErrors(BANDIT_POLICY);
  assertAlmostEquals(detached, 0, 1e-14);
  assertEquals(attached.toFixed(3), "1.538");
});

Deno.test("banditErrors() of one draw differ from the exact gradient in both forms", () => {
  const { detached, attached } = banditErrors([1, 0, 0, 0, 0]);
  assert(detached > 0.5 && attached > 0.5 && detached !== attached);
});

Deno.test("DETACH holds for three seeds", async () => {
  for (const seed of [0, 1, 2]) {
    // It needs no device.
    const context = createLabContext(undefined as never, { seed, quick: false });
    const { checks } = await DETACH.run(context);
    assertEquals(checks.map(({ holds }) => holds), [true, true]);
  }
});
