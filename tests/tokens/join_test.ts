/** Tests of joins: what one dump tells of a sequence goes to another that holds the same token ids. */
import { assertEquals } from "@std/assert";
import { Ignored } from "../../src/logs/ignored.ts";
import { completedBy } from "../../src/tokens/join.ts";
import { packRuns, unpackRuns } from "../../src/tokens/runs_of_bytes.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";

async function* stream(sequences: readonly TokenSequence[]) {
  yield* await sequences;
}

const sequence = (ids: readonly number[], fields: Partial<TokenSequence> = {}): TokenSequence => ({
  file: "a",
  row: 1,
  offset: 0,
  ids: Uint32Array.from(ids),
  logProbs: {},
  ...fields,
});

async function join(own: readonly TokenSequence[], others: readonly TokenSequence[]) {
  const notes = new Ignored();
  const joined = await Array.fromAsync(completedBy(stream(own), stream(others), notes));
  const ignored = Object.fromEntries(notes.list().map(({ what, count }) => [what, count]));
  return { joined, ignored };
}

Deno.test("a join gives group, reward, roles and names, and leaves alone what a sequence tells itself", async () => {
  const facts = {
    group: "g",
    sample: "s",
    reward: 1,
    stop: "end",
    roles: Uint8Array.of(1, 1, 2),
    sampled: Uint8Array.of(0, 0, 1),
    mask: Uint8Array.of(0, 0, 1),
    step: 3,
  } as const;
  const { joined: [first], ignored } = await join(
    [sequence([1, 2, 3], { step: 3, stop: "length", file: "export", row: 7 })],
    [sequence([1, 2, 3], facts)],
  );
  const { mask: _mask, ...told } = facts;
  assertEquals(first, sequence([1, 2, 3], { ...told, stop: "length", file: "export", row: 7 }));
  assertEquals(ignored, {});
});

Deno.test("a join keeps equal answers of a group apart, and says nothing where groups or rewards contradict", async () => {
  const other = (ids: readonly number[], sample: string, group: string, reward = 1) =>
    sequence(ids, { sample, group, reward, step: 1 });
  const own = (ids: readonly number[]) => sequence(ids, { step: 1 });
  const { joined, ignored } = await join(
    [own([1]), own([1]), own([2]), own([3]), own([4])],
    [
      other([1], "a", "g"),
      other([1], "b", "g"),
      other([2], "c", "g"),
      other([2], "d", "h"),
      other([3], "e", "g", 1),
      other([3], "f", "g", 0),
      other([9], "i", "g"),
    ],
  );
  assertEquals(joined.map(({ sample, group }) => [sample, group]), [
    ["a", "g"],
    ["b", "g"],
    [undefined, undefined],
    [undefined, undefined],
    [undefined, undefined],
  ]);
  assertEquals(ignored, {
    "sequences whose tokens are in several groups or with several rewards": 2,
    "sequences that the other dump does not hold": 1,
    "sequences that only the other dump holds": 3,
  });
});

Deno.test("a join prefers the same step, and finds ids of one step where steps are counted otherwise", async () => {
  const { joined } = await join(
    [1, 2, 3].flatMap((step) => [sequence([1], { step }), sequence([2], { step })]),
    [
      sequence([1], { step: 1, group: "one" }),
      sequence([1], { step: 2, group: "two" }),
      sequence([2], { step: 9, group: "nine" }),
    ],
  );
  assertEquals(joined.map(({ group }) => group), [
    ...["one", "nine"],
    ...["two", "nine"],
    ...[undefined, "nine"],
  ]);
});

Deno.test("packRuns() loses nothing", () => {
  for (const list of [[], [0], [3, 3, 3], [0, 1, 0, 0, 2, 2]]) {
    assertEquals([...unpackRuns(packRuns(Uint8Array.from(list)))], list);
  }
  assertEquals(packRuns(Uint8Array.of(1, 1, 2)), { values: [1, 2], ends: [2, 3] });
});
