/** The short form of tests/hostile/fuzz.ts: a few thousand mutated inputs of every kind. */
import { assert, assertEquals } from "@std/assert";
import { withFolder } from "../files/with_folder.ts";
import { fuzz } from "./fuzz.ts";

/** A run does again what is damaged, and without a measured layout a default one does. */
const HEALED = ["metrics of a run that is resumed", "measured layouts"];

Deno.test("every parser returns or refuses with a sentence, whatever 3,000 mutated inputs hold", () =>
  withFolder((folder) => {
    for (const [name, tally] of fuzz(folder, { inputs: 3000, seed: 7 })) {
      const { accepted, refused, failures } = tally;
      assertEquals(failures, [], name);
      assert(accepted > 0 && accepted + refused === tally.inputs, name);
      assert(refused > 0 || HEALED.includes(name), name);
    }
  }));
