/** Turns of one sample: what is the same history written with other ids, and what is another history. */
import { assertEquals } from "@std/assert";
import { judgeTokens } from "../../../src/diagnose/tokens/judge_tokens.ts";
import type { TokenSequence } from "../../../src/tokens/token_batch.ts";
import { dumpOf, made } from "./made_sequences.ts";

/** Two sequences of one sample: the later's own turn begins at an index. */
async function judged(
  earlier: readonly number[],
  later: readonly number[],
  { drawnFrom }: { readonly drawnFrom: number },
) {
  const turn = (ids: readonly number[], from: number): TokenSequence =>
    made({ ids, mask: ids.map((_, i) => Number(i >= from)), sample: "s", group: "g", step: 0 });
  const findings = await judgeTokens(dumpOf([turn(earlier, 4), turn(later, drawnFrom)]));
  const found = findings.find(({ id }) => id === "prefix_broken");
  return [found?.class, found?.at?.token];
}

const HISTORY = [1, 2, 3, 4, 11, 12, 13, 14, 15, 16, 9];
const NEXT = [50, 51, 52, 60, 61, 62];

Deno.test("prefix_broken holds where a turn goes on from the turns before it", async () => {
  const later = [...HISTORY, ...NEXT];
  assertEquals(await judged(HISTORY, later, { drawnFrom: 14 }), ["holds", undefined]);
});

Deno.test("prefix_broken finds other ids for the same text, and a mark that is lost at the end", async () => {
  // 12 13 was tokenized again as 70 71 72.
  const again = [1, 2, 3, 4, 11, 70, 71, 72, 14, 15, 16, 9, ...NEXT];
  assertEquals(await judged(HISTORY, again, { drawnFrom: 15 }), ["suspect", 5]);
  const lost = [...HISTORY.slice(0, -1), ...NEXT];
  assertEquals(await judged(HISTORY, lost, { drawnFrom: 13 }), ["suspect", 10]);
});

Deno.test("prefix_broken takes a branch of the history and a summary of it for no fault", async () => {
  // Both sequences drew their own answer to one prompt.
  const branch = [1, 2, 3, 4, 11, 12, 80, 14, 15, 16, 17, 18, 9, 10];
  assertEquals((await judged(HISTORY, branch, { drawnFrom: 4 }))[0], "holds");
  const summary = [1, 2, 3, 4, 90, 91, 92, 93, 94, 95, 96, 97, 98, ...NEXT];
  assertEquals((await judged(HISTORY, summary, { drawnFrom: 16 }))[0], "note");
});
