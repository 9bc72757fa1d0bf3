/** Tests of what a token page's script reads: packed and unpacked again, every value of a dump is there. */
import { assert, assertEquals } from "@std/assert";
import { LOG_PROB_SIDES, TOKEN_ROLES, type TokenSequence } from "../../src/tokens/token_batch.ts";
import { tokenPayload } from "../../src/report/token_payload.ts";
import { type ShownToken, tokensOf, turnsOf } from "../../src/report/script/token_sequence.ts";
import { valueLines } from "../../src/report/script/token_values.ts";
import { chosenSequences } from "../../src/report/script/token_view.ts";
import { dataOf, sequenceOf } from "./token_fixture.ts";

/** The tokens of a sequence as the page shows them, through the text of the page's data. */
function shown(sequence: TokenSequence): ShownToken[] {
  const { digest, words } = dataOf([sequence]);
  const payload = tokenPayload(digest, { id: "t", words });
  return tokensOf(JSON.parse(JSON.stringify(payload)).sequences[0]);
}

Deno.test("tokenPayload() keeps every value that 32 bits can hold, and where there is none", () => {
  const sequence = sequenceOf(3, {
    weightVersions: Int32Array.from({ length: 36 }, (_, i) => i < 20 ? 7 : 8),
    positions: Uint32Array.from({ length: 36 }, (_, i) => i < 30 ? i + 5 : i - 30),
  });
  const values = Float64Array.from(sequence.logProbs.trainer!.values);
  [values[13], values[14], values[15], values[16]] = [NaN, -Infinity, -0, 1e-42];
  const changed: TokenSequence = {
    ...sequence,
    ids: Uint32Array.from(sequence.ids, (id, i) => i === 3 ? 4294967295 : id),
    logProbs: { ...sequence.logProbs, trainer: { values, nonFinite: [13, 14] } },
  };
  const tokens = shown(changed);
  assertEquals(tokens.length, 36);
  for (const [i, token] of tokens.entries()) {
    assertEquals(token.id, changed.ids[i]);
    for (const side of LOG_PROB_SIDES) {
      const expected = changed.logProbs[side]?.values[i];
      const found = token.logProbs[side];
      const wanted = expected === undefined ? undefined : Math.fround(expected);
      assert(Object.is(found, wanted), `${side} of token ${i}: ${found}, not ${wanted}`);
    }
    assertEquals(token.isTrained, changed.mask![i] === 1);
    assertEquals(token.isSampled, changed.sampled![i] === 1);
    assertEquals(token.role, TOKEN_ROLES[changed.roles![i]!]);
    assertEquals(token.version, i < 20 ? 7 : 8);
    assertEquals(token.position, i < 30 ? i + 5 : i - 30);
    assertEquals(token.isNonFinite, i === 13 || i === 14);
    assert(Object.is(token.advantage, -0.5));
  }
  assertEquals(turnsOf(tokens).map((turn) => turn.length), [4, 8, 16, 8]);
});

Deno.test("tokenPayload() leaves out what a dump does not tell, and positions that count the tokens", () => {
  const [token] = shown({
    file: "a",
    row: 1,
    offset: 0,
    ids: Uint32Array.of(5, 6),
    positions: Uint32Array.of(0, 1),
    logProbs: {},
  });
  assertEquals([token?.position, token?.isTrained, token?.role], [undefined, undefined, undefined]);
  assertEquals(valueLines(token!, "a\tb "), [["token", "0"], ["id", "5"], ["text", "a⇥b␣"]]);
});

Deno.test("valueLines() says exact values, and tells a NaN of the dump from a missing number", () => {
  const trainer = { values: new Float64Array(36).fill(-1.25), nonFinite: [13] };
  trainer.values[12] = -1.0000001;
  trainer.values[13] = NaN;
  const { sampler } = sequenceOf(0).logProbs;
  const tokens = shown(sequenceOf(0, { logProbs: { sampler: sampler!, trainer } }));
  const lines = (i: number) => Object.fromEntries(valueLines(tokens[i]!, undefined));
  // Token 12 of sequence 0: the sampler's log-prob is −(84 mod 11)/10.
  assertEquals(lines(12)["log p, sampler"], "-0.7");
  assertEquals(lines(12)["log p, trainer"], "-1.0000001");
  assertEquals(lines(12)["gap"], "-0.3");
  assertEquals(lines(13)["log p, trainer"], "NaN or missing");
  assertEquals(lines(3)["log p, sampler"], undefined);
});

Deno.test("chosenSequences() filters and sorts; what has no value comes last", () => {
  const dump = Array.from(
    { length: 12 },
    (_, n) => n === 5 ? { ...sequenceOf(n), reward: NaN } : sequenceOf(n, { reward: n % 5 }),
  );
  const { digest, words } = dataOf(dump);
  const { sequences, groups } = tokenPayload(digest, { id: "t", words });
  const keys = (choices: Record<string, string>) =>
    chosenSequences(sequences, choices).map(({ key }) => Number(key));
  assertEquals(keys({ order: "dump" }), Array.from({ length: 12 }, (_, n) => n + 1));
  assertEquals(keys({ order: "dump", stop: "length" }), [1, 4, 7, 10]);
  assertEquals(keys({ order: "dump", reward: "3" }), [4, 9]);
  const group = String(groups.indexOf("g1"));
  assertEquals(keys({ order: "reward-down", group }), [5, 8, 7, 6]);
  assertEquals(keys({ order: "dump", group, stop: "length" }), [7]);
  assertEquals(keys({ stop: "tool" }), []);
});
