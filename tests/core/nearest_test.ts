/** Tests of src/core/nearest.ts. */
import { assertEquals } from "@std/assert";
import { nearestName, suggestName } from "../../src/core/nearest.ts";

Deno.test("nearestName() finds the name when letters are swapped, missing, added or in another case", () => {
  const known = ["reinforce", "grpo", "drgrpo", "rloo", "ppo"];
  assertEquals(nearestName("grop", known), "grpo");
  assertEquals(nearestName("reinforc", known), "reinforce");
  assertEquals(nearestName("drgrppo", known), "drgrpo");
  assertEquals(nearestName("PPO", known), "ppo");
});

Deno.test("nearestName() finds nothing when no name resembles the text", () => {
  assertEquals(nearestName("zzzz", ["reinforce", "grpo"]), undefined);
  assertEquals(nearestName("", ["a"]), undefined);
  assertEquals(nearestName("a", []), undefined);
  assertEquals(nearestName("a".repeat(100_000), ["a".repeat(65)]), undefined);
});

Deno.test("nearestName() keeps the first of two equally near names", () => {
  assertEquals(nearestName("cat", ["car", "cap"]), "car");
});

Deno.test("suggestName() lists the names when none is near", () => {
  assertEquals(suggestName("lrr", ["lr", "seed"]), 'did you mean "lr"?');
  assertEquals(suggestName("zzzz", ["lr", "seed"]), "choose one of lr, seed");
});
