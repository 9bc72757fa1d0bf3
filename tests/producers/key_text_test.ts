/** Patterns of keys for people. */
import { assert, assertEquals } from "@std/assert";
import { keyText } from "../../src/producers/key_text.ts";
import { PRODUCERS } from "../../src/producers/producers.ts";

Deno.test("keyText() writes patterns as people do", () => {
  assertEquals(keyText("a/b(c)"), "a/b(c)");
  assertEquals(keyText(/rewards\/(?<part>.+)\/mean/), "rewards/NAME/mean");
  assertEquals(keyText(/rewards\/(?<part>(?!.+\/(?:mean|std)$).+)/), "rewards/NAME");
  assertEquals(keyText(/clip_ratio\/(?<part>low|high)_mean/), "clip_ratio/(low|high)_mean");
  assertEquals(keyText(/(?:eval\/)?eval_(?<part>.+)_pass\d+/), "[eval/]eval_NAME_passN");
  assertEquals(keyText(/train\/agg\/[^/]+\/x(?:\/mean)?|y/), "train/agg/*/x[/mean]|y");
  assertEquals(keyText(/Grad\. Norm/), "Grad. Norm");
});

Deno.test("keyText() leaves nothing of a pattern's own signs in any producer's keys", () => {
  for (const { id, definitions } of PRODUCERS) {
    for (const { key } of definitions) {
      const text = keyText(key);
      assert(text.length > 0 && !/[\\^$+?]|\(\?|\.\*/.test(text), `${id}: ${text} of ${key}`);
    }
  }
});
