/** Our own recorded batches, broken on purpose and whole: the checks name what is wrong, first, and are silent else. */
import { assert, assertEquals } from "@std/assert";
import { randomSequence } from "../../../src/core/rng.ts";
import { judgeTokens } from "../../../src/diagnose/tokens/judge_tokens.ts";
import { batchOf, draftsOf, kindOf, readEpisodes } from "../../foreign/recorded_batches.ts";
import { BREAKAGES } from "../../foreign/token_breakages.ts";
import { HEALTHY } from "../../foreign/token_healthy.ts";
import { sequencesOfVariant } from "../../foreign/token_variants.ts";
import { alarmsOf, isHit, judgeVariant } from "../../foreign/token_checks.ts";

// The table of docs/token_checks.md is of seeds 0 to 19.
const FIRST_SEED = 100;

const episodes = readEpisodes();

Deno.test("judgeTokens() says of each broken dump what is broken, and says it first", async () => {
  for (const [index, [name, variant]] of Object.entries(BREAKAGES).entries()) {
    const alarms = alarmsOf(await judgeVariant(variant, { seed: FIRST_SEED + index, episodes }));
    const names = [variant.expected, ...variant.or ?? []];
    assert(isHit(variant, alarms), `${name}: ${JSON.stringify(alarms.map(({ id }) => id))}`);
    assert(names.includes(alarms[0].id), `${name}: first is ${alarms[0].id}`);
    assert(alarms[0].at?.file !== undefined, `${name}: nothing shows it`);
  }
});

Deno.test("judgeTokens() says nothing against dumps that only look unusual", async () => {
  for (const [index, [name, variant]] of Object.entries(HEALTHY).entries()) {
    const alarms = alarmsOf(await judgeVariant(variant, { seed: FIRST_SEED + index, episodes }));
    assertEquals(alarms.map(({ id, sentence }) => [name, id, sentence]), []);
  }
});

Deno.test("judgeTokens() gives the same verdicts for every order of the rows", async () => {
  const random = randomSequence({ seed: 1, stream: 92 });
  const variants = { ...BREAKAGES, ...HEALTHY };
  for (
    const name of [
      "bf16_noise",
      "groups_merged",
      "forced_end",
      "padding_is_seen",
      "stale_weights",
      "retokenised_turn",
    ]
  ) {
    const sequences = sequencesOfVariant(variants[name], { seed: FIRST_SEED, episodes });
    const shuffled = random.permutation(sequences.length)
      .map((i, row) => ({ ...sequences[i], row: row + 1 }));
    const verdicts = await Promise.all(
      [sequences, shuffled].map(async (rows) =>
        (await judgeTokens(batchOf(rows))).map(({ id, class: own, value, at }) => [
          name,
          id,
          own,
          value?.toPrecision(9),
          at?.sample,
          at?.token,
        ])
      ),
    );
    assertEquals(verdicts[1], verdicts[0]);
  }
});

Deno.test("judgeTokens() asks for a difference of exactly 0 of our own runs", async () => {
  const sequences = sequencesOfVariant({ kind: (kind) => ({ ...kind, noise: 0 }) }, {
    seed: FIRST_SEED,
    episodes,
  });
  // The trainer's scores are of the float64 reference: about 1e-7 nats from the kernels.
  const [first] = await judgeTokens(batchOf(sequences, "agentrl"));
  assertEquals([first.id, first.class], ["sampler_trainer_gap_tokens", "violated"]);
  // Where the adapter rounds apart, so small a difference is rounding.
  const own = batchOf(sequences, "agentrl");
  const apart = { ...own, source: { ...own.source, roundsApart: true } };
  assertEquals(alarmsOf(await judgeTokens(apart)), []);
  const same = sequences.map((sequence) => ({
    ...sequence,
    logProbs: { ...sequence.logProbs, trainer: sequence.logProbs.sampler },
  }));
  const findings = await judgeTokens(batchOf(same as typeof sequences, "agentrl"));
  assertEquals(alarmsOf(findings), []);
  const gap = findings.find(({ id }) => id === "sampler_trainer_gap_tokens");
  assertEquals([gap?.class, gap?.value], ["holds", 0]);
});

Deno.test("recorded batches hold what their dumps need", () => {
  assertEquals(episodes.length, 256);
  const drafts = draftsOf(episodes, kindOf(0));
  assert(drafts.some(({ advantage }) => advantage > 0) && drafts.length > 100);
});
