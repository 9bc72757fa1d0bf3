/** Sequences in which anything that a dump can say may be there or not. */
import { randomSequence } from "../../src/core/rng.ts";
import {
  LOG_PROB_SIDES,
  STOP_REASONS,
  TOKEN_ROLES,
  type TokenSequence,
  type TokenValues,
} from "../../src/tokens/token_batch.ts";
import { present } from "../../src/tokens/token_values.ts";

/** A stream of this file's own. */
const STREAM = 1700;

const WORDS = ["", "a", "g12.3", 'quote " and \\', "line\nfeed", "\u2028é🙂", "null"];
const ODD_VALUES = [0, -0, 1e-300, -1.7e308, 5e-324, 1 / 3, -Math.log(2), 2 ** 53];
const NON_FINITE = [NaN, Infinity, -Infinity];

/** A sequence; every other of its fields is left out. */
export function randomTokens(seed: number): TokenSequence {
  const random = randomSequence({ seed, stream: STREAM });
  const pick = <T>(items: readonly T[]): T => items[random.integer(items.length)];
  const maybe = <T>(make: () => T): T | undefined => random.uniform() < 0.5 ? make() : undefined;
  const length = pick([0, 1, 2, 17]);
  const list = <T>(make: () => T): T[] => Array.from({ length }, make);
  const number = () => random.uniform() < 0.5 ? pick(ODD_VALUES) : random.normal();
  const values = (): TokenValues => {
    const nonFinite: number[] = [];
    const numbers = list(number).map((value, token) => {
      const kind = random.uniform();
      if (kind < 0.2) return NaN;
      if (kind > 0.3) return value;
      nonFinite.push(token);
      return pick(NON_FINITE);
    });
    return { values: Float64Array.from(numbers), nonFinite };
  };
  const flags = () => Uint8Array.from(list(() => random.integer(2)));
  const sides = LOG_PROB_SIDES.map((side) => [side, maybe(values)] as const);
  const advantage = maybe(number);
  return {
    file: "elsewhere.jsonl",
    row: 99,
    offset: pick([0, 5]),
    ids: Uint32Array.from(list(() => random.integer(2 ** 32))),
    logProbs: present(Object.fromEntries(sides)),
    ...present({
      run: maybe(() => pick(WORDS)),
      environment: maybe(() => pick(WORDS)),
      step: maybe(() => random.integer(1000)),
      rank: maybe(() => random.integer(8)),
      phase: maybe(() => pick(["pre", "post"] as const)),
      microBatch: maybe(() => random.integer(8)),
      packingRow: maybe(() => random.integer(8)),
      group: maybe(() => pick(WORDS)),
      sample: maybe(() => pick(WORDS)),
      positions: maybe(() => Uint32Array.from(list(() => random.integer(2 ** 32)))),
      padding: maybe(() => ({ left: random.integer(3), right: random.integer(3) })),
      mask: maybe(flags),
      sampled: maybe(flags),
      roles: maybe(() => Uint8Array.from(list(() => random.integer(TOKEN_ROLES.length)))),
      entropy: maybe(values),
      advantage,
      advantages: advantage === undefined
        ? maybe(values)
        : { values: new Float64Array(length).fill(advantage), nonFinite: [] },
      weightVersions: maybe(() => Int32Array.from(list(() => random.integer(2 ** 32) - 2 ** 31))),
      reward: maybe(() => random.uniform() < 0.8 ? number() : pick(NON_FINITE)),
      rewardParts: maybe(() => new Map([["tests", number()], ["__proto__", pick(NON_FINITE)]])),
      stop: maybe(() => pick(STOP_REASONS)),
      stopText: maybe(() => pick(WORDS)),
      temperature: maybe(() => random.uniform()),
      topP: maybe(() => random.uniform()),
      loss: maybe(() =>
        present({ aggregation: maybe(() => pick(WORDS)), denominator: maybe(number) })
      ),
      prompt: maybe(() => pick(WORDS)),
      answer: maybe(() => pick(WORDS)),
      answerLength: maybe(() => random.integer(1000)),
    }),
  };
}
