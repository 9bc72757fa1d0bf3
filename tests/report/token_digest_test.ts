/** Tests of what a page keeps of a dump: all is counted, the worst stays, groups stay whole, and nothing outgrows its room. */
import { assert, assertEquals } from "@std/assert";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { MAX_WINDOW } from "../../src/report/token_keep.ts";
import { dataOf, sequenceOf } from "./token_fixture.ts";

/** A sequence whose trainer is off by `gap` at one token. */
function withGap(n: number, { gap, token }: { gap: number; token: number }): TokenSequence {
  const { sampler, trainer } = sequenceOf(n).logProbs;
  const values = Float64Array.from(trainer!.values);
  values[token] = sampler!.values[token]! + gap;
  return sequenceOf(n, { logProbs: { sampler: sampler!, trainer: { values, nonFinite: [] } } });
}

Deno.test("TokenCollector counts all, and keeps whole groups of the worst where the room ends", () => {
  const dump = Array.from(
    { length: 400 },
    (_, n) => n === 133 ? withGap(n, { gap: 2, token: 30 }) : sequenceOf(n),
  );
  const maxBytes = 40_000;
  const { digest } = dataOf(dump, { maxBytes });
  const { totals, kept } = digest;
  assertEquals([totals.sequences, totals.tokens, totals.trained, totals.groups], [
    400,
    400 * 36,
    400 * 23,
    100,
  ]);
  assert(kept.length >= 8 && kept.length < 60, `${kept.length} sequences`);
  assertEquals(kept[0]?.summary.key, "134");
  assertEquals(kept[0]?.summary.focus, 30);
  const sizes = new Map<string, number>();
  for (const { summary: { groupKey = "" } } of kept) {
    sizes.set(groupKey, (sizes.get(groupKey) ?? 0) + 1);
  }
  assertEquals(new Set(sizes.values()), new Set([4]), "every kept group is whole");
});

Deno.test("TokenCollector keeps the part of a long sequence that is to be looked at", () => {
  const length = 100_000;
  const values = new Float64Array(length).fill(-1);
  const trainer = { values: Float64Array.from(values), nonFinite: [] };
  trainer.values[77_777] = -9;
  const ids = Uint32Array.from({ length }, (_, i) => i);
  const { digest } = dataOf([{
    file: "a",
    row: 1,
    offset: 0,
    ids,
    mask: new Uint8Array(length).fill(1),
    logProbs: { sampler: { values, nonFinite: [] }, trainer },
  }]);
  const [kept] = digest.kept;
  assertEquals(kept?.tokens.ids.length, MAX_WINDOW);
  assertEquals(kept?.begin, 77_777 - MAX_WINDOW / 2);
  assertEquals(kept?.tokens.ids[0], kept?.begin);
  assertEquals(kept?.summary.gap, { worst: 8, mean: 8 / length });
  assert(digest.scatter.some(([x, y]) => x === -1 && y === -9), "the farthest point is drawn");
  assert(digest.gapByPosition.mean.length < 150);
});

Deno.test("TokenCollector cuts a group that would fill the page, and keeps its worst", () => {
  const dump = Array.from(
    { length: 1000 },
    (_, n) => withGap(n, { gap: n === 789 ? 3 : 0.5, token: 20 }),
  ).map((one) => ({ ...one, group: "one" }));
  const { digest } = dataOf(dump);
  assert(digest.kept.length < 1000 && digest.kept.length > 400);
  assertEquals(digest.kept[0]?.summary.key, "790");
  assertEquals(digest.groups.map(({ size, members }) => [size, members.length]), [[1000, 64]]);
});

Deno.test("TokenCollector judges by trained tokens alone, and puts what is not finite first", () => {
  const untrained = withGap(0, { gap: 5, token: 35 });
  const trained = withGap(4, { gap: 1, token: 34 });
  const broken = sequenceOf(8);
  const { sampler } = broken.logProbs;
  const nan = {
    ...broken,
    logProbs: { ...broken.logProbs, sampler: { values: sampler!.values, nonFinite: [17] } },
  };
  const { kept } = dataOf([untrained, trained, nan]).digest;
  assertEquals(kept.map(({ summary }) => [summary.key, summary.focus]).slice(0, 2), [
    ["3", 17],
    ["2", 34],
  ]);
  assert(kept[2]!.summary.gap!.worst < 0.02);
});
