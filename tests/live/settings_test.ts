/** Settings in the fragment of the page's address. */
import { assertEquals } from "@std/assert";
import { FAULT_NAMES } from "../../src/faults/faults.ts";
import { fragmentOf, LIVE_DEFAULTS, MOST_SEED, settingsOf } from "../../src/live/settings.ts";

Deno.test("settingsOf() reads what fragmentOf() writes", () => {
  for (const fault of [undefined, ...FAULT_NAMES]) {
    const settings = { fault, seed: 7, steps: 12 };
    assertEquals(settingsOf(fragmentOf(settings), FAULT_NAMES), settings);
  }
});

Deno.test("settingsOf() keeps to what a page can run, whatever a link says", () => {
  const read = (fragment: string) => settingsOf(fragment, FAULT_NAMES);
  assertEquals(read(""), LIVE_DEFAULTS);
  assertEquals(read("#live-runs-heading"), LIVE_DEFAULTS);
  assertEquals(read("#fault=constructor&seed=-1&steps=1e3"), LIVE_DEFAULTS);
  assertEquals(read("#fault=none&seed=9999999999&steps=0"), {
    fault: undefined,
    seed: MOST_SEED,
    steps: 1,
  });
  assertEquals(read("#steps=501").steps, 500);
  assertEquals(read("#fault=%3Cscript%3E&seed=٣"), LIVE_DEFAULTS);
});
