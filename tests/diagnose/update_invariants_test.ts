/** Tests of src/diagnose/update_invariants.ts on probes made by hand: each mistake of a loss or an optimizer, and near misses. */
import { assert, assertEquals } from "@std/assert";
import { at } from "../../src/core/element.ts";
import { invariantKey } from "../../src/diagnose/invariant_list.ts";
import type { CheckResult, KnownTrainer } from "../../src/diagnose/invariant.ts";
import { checkInvariants } from "../../src/diagnose/invariants.ts";
import type { LossProbe, OptimizerProbe, TermProbe } from "../../src/diagnose/probe.ts";
import { type AdamState, clipAdam } from "../../src/reference/clip_adam.ts";

const TERMS = {
  surrogate: "clipped",
  clipLow: 0.2,
  clipHigh: 0.3,
  klKind: "k3",
  klCoef: 0.05,
  entropyCoef: 0.01,
} as const;

/** Three episodes of 7, 14 and 7 tokens, with an advantage of either sign and none. */
const TOKENS_B = [7, 14, 7];
const ADVANTAGES = [1, -0.7, 0];
const RATIOS = [0.5, 0.78, 0.83, 1, 1.25, 1.34, 1.8];
const EPISODE_N = TOKENS_B.flatMap((count, b) => Array<number>(count).fill(b));
const N = EPISODE_N.length;

interface Loss {
  readonly surrogate: (ratio: number, advantage: number) => number;
  /** Of log π − log π_ref. */
  readonly kl: (difference: number) => number;
  readonly entropy: number;
  readonly weight: (episode: number) => number;
  readonly meanWeight: number;
}

const RIGHT: Loss = {
  // −A ρ where min(ρA, clip(ρ)A) is the unclipped branch.
  surrogate: (ratio, a) => (a > 0 ? ratio > 1.3 : ratio < 0.8) ? 0 : -a * ratio,
  kl: (d) => 0.05 * (1 - Math.exp(-d)),
  entropy: 0.01,
  weight: () => 1 / N,
  meanWeight: 1 / N,
};

/** A trainer's derivatives, in f32 as a device has them. */
function probeOf(wrong: Partial<Loss> = {}, more: Partial<LossProbe> = {}): LossProbe {
  const loss = { ...RIGHT, ...wrong };
  const rows = EPISODE_N.map((episode, n) => {
    const [ratio, difference] = [at(RATIOS, n % 7), 0.1 * (n % 5) - 0.15];
    const weight = loss.weight(episode);
    const surrogate = weight * loss.surrogate(ratio, at(ADVANTAGES, episode));
    return { ratio, difference, weight, surrogate, kl: loss.meanWeight * loss.kl(difference) };
  });
  const column = (value: (row: typeof rows[number]) => number) => Float32Array.from(rows, value);
  return {
    terms: TERMS,
    aggregation: "token_mean",
    normConst: 40,
    tokens_B: TOKENS_B,
    tokens: {
      episode_N: EPISODE_N,
      logp_N: Array(N).fill(-1),
      oldLogp_N: rows.map(({ ratio }) => -1 - Math.log(ratio)),
      refLogp_N: rows.map(({ difference }) => -1 - difference),
      advantage_N: EPISODE_N.map((episode) => at(ADVANTAGES, episode)),
    },
    found: {
      weight_N: column(({ weight }) => weight),
      meanWeight_N: column(() => loss.meanWeight),
      dlogp_N: column(({ surrogate, kl }) => surrogate + kl),
      dentropy_N: column(() => -loss.entropy * loss.meanWeight),
    },
    ...more,
  };
}

const surrogateAlone = (wrong: Partial<Loss> = {}) =>
  probeOf({ kl: () => 0, entropy: 0, ...wrong }, {
    terms: { ...TERMS, klCoef: 0, entropyCoef: 0 },
  });

async function resultOf(key: string, trainer: KnownTrainer): Promise<CheckResult> {
  const found = (await checkInvariants(trainer)).find(({ id }) => invariantKey(id) === key);
  assert(found);
  return found;
}

/** What an update does to twelve episodes of two problems. @param by How far each log-prob moves with its advantage. */
function updated(by: number): KnownTrainer {
  const advantages = [1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1];
  return {
    episodes: advantages.map((a, b) => ({
      owners: [1, 2],
      logps: [0, -1],
      reward: Number(a > 0),
      problem: Math.floor(b / 6),
    })),
    groupId_B: advantages.map((_, b) => Math.floor(b / 6)),
    lossInputs: (pad) =>
      Promise.resolve(pad > 0 ? undefined : { columnCount: 1, logp_BC: advantages.map(() => -1) }),
    update: () => Promise.resolve({ logp_BC: advantages.map((a) => -1 + by * a) }),
  };
}

async function judgeTerms(probe: TermProbe, by = 0.01): Promise<CheckResult> {
  return await resultOf("term_directions", {
    ...updated(by),
    termProbe: () => Promise.resolve(probe),
  });
}

Deno.test("term_directions holds where every term has its share, in every aggregation", async () => {
  const judged = async (probe: LossProbe) => await judgeTerms({ shares: probe, moves: [] });
  const { verdict, value } = await judged(probeOf());
  assertEquals(verdict, "holds");
  assert(value! > 0, "f32 rounds");
  const modes = {
    token_mean: () => 1 / N,
    seq_mean_token_sum: () => 1 / 3,
    seq_mean_token_mean: (episode: number) => 1 / 3 / at(TOKENS_B, episode),
    constant: () => 1 / 40,
  };
  for (const [aggregation, weight] of Object.entries(modes)) {
    for (const [other, otherWeight] of Object.entries(modes)) {
      const { verdict } = await judged(
        probeOf({ weight: otherWeight }, { aggregation: aggregation as keyof typeof modes }),
      );
      assertEquals(
        verdict,
        aggregation === other ? "holds" : "violated",
        `${aggregation} ${other}`,
      );
    }
    assertEquals(weight(0) > 0, true);
  }
});

Deno.test("term_directions sees a term with another sign, size, estimator or mean", async () => {
  const wrong: Record<string, Partial<Loss>> = {
    "KL lifts": { kl: (d) => -RIGHT.kl(d) },
    "KL twice": { kl: (d) => 2 * RIGHT.kl(d) },
    "no KL": { kl: () => 0 },
    "another estimator": { kl: (d) => 0.05 * d },
    "policy and reference swapped": { kl: (d) => RIGHT.kl(-d) },
    "an entropy penalty": { entropy: -0.01 },
    "entropy twice": { entropy: 0.02 },
    "no entropy": { entropy: 0 },
    "a sum of KL and entropy": { meanWeight: 1 },
    "no number": { kl: () => NaN },
  };
  for (const [what, loss] of Object.entries(wrong)) {
    const { verdict } = await judgeTerms({ shares: probeOf(loss), moves: [] });
    assertEquals(verdict, "violated", what);
  }
  // A coefficient that is not configured must not act.
  const unasked = probeOf({}, { terms: { ...TERMS, entropyCoef: 0 } });
  assertEquals((await judgeTerms({ shares: unasked, moves: [] })).verdict, "violated");
});

Deno.test("term_directions sees updates that go against a term or the advantages", async () => {
  const shares = probeOf();
  const judged = async (before: number, after: number, term: "kl" | "entropy") =>
    (await judgeTerms({ shares, moves: [{ term, before, after }] })).verdict;
  assertEquals(await judged(0.2, 0.199, "kl"), "holds");
  assertEquals(await judged(0.2, 0.2, "kl"), "holds", "an update too small to be seen");
  assertEquals(await judged(0.2, 0.201, "kl"), "violated");
  assertEquals(await judged(0.5, 0.501, "entropy"), "holds");
  assertEquals(await judged(0.5, 0.499, "entropy"), "violated");
  assertEquals(await judged(0.5, NaN, "entropy"), "violated");
  assertEquals((await judgeTerms({ shares, moves: [] }, 0)).verdict, "holds", "nothing moves");
  const against = await judgeTerms({ shares, moves: [] }, -0.01);
  assertEquals([against.verdict, against.bound], ["violated", 3]);
  // Twice six values that oppose each other: √5 standard deviations of a permutation each.
  assert(Math.abs(against.value! - Math.sqrt(10)) < 1e-9, String(against.value));
});

Deno.test("term_directions holds the gradient to the slope of its loss", async () => {
  const judged = async (found: number) => {
    const slope = { promised: 0.2, found, tolerance: 0.01 };
    return (await judgeTerms({ shares: probeOf(), moves: [], slope })).verdict;
  };
  assertEquals(await judged(0.201), "holds");
  for (const found of [0.19, 0.4, -0.2, 0, NaN]) assertEquals(await judged(found), "violated");
});

Deno.test("ratio_and_clip holds the surrogate to the equation, token by token", async () => {
  const judged = (probe: LossProbe) =>
    resultOf("ratio_and_clip", { lossProbe: () => Promise.resolve(probe) });
  assertEquals((await judged(surrogateAlone())).verdict, "holds");
  const clipped = (low: number, high: number) => (ratio: number, a: number) =>
    (a > 0 ? ratio > 1 + high : ratio < 1 - low) ? 0 : -a * ratio;
  const wrong: Record<string, Loss["surrogate"]> = {
    "no clip": (ratio, a) => -a * ratio,
    "max instead of min": (ratio, a) => (a > 0 ? ratio < 0.8 : ratio > 1.3) ? 0 : -a * ratio,
    "narrower below": clipped(0.1, 0.3),
    "narrower above": clipped(0.2, 0.2),
    "wider": clipped(0.3, 0.4),
    "clipped on both sides": (ratio, a) => ratio > 1.3 || ratio < 0.8 ? 0 : -a * ratio,
    "a ratio of 1": (_, a) => -a,
    "the other sign": (ratio, a) => -RIGHT.surrogate(ratio, a),
    "no number": () => NaN,
  };
  for (const [what, surrogate] of Object.entries(wrong)) {
    assertEquals((await judged(surrogateAlone({ surrogate }))).verdict, "violated", what);
  }
  const reinforce = { ...surrogateAlone({ surrogate: (_, a) => -a }) };
  const terms = { ...reinforce.terms, surrogate: "reinforce" } as const;
  assertEquals((await judged({ ...reinforce, terms })).verdict, "holds");
  assertEquals((await judged({ ...surrogateAlone(), terms })).verdict, "violated");
});

const W = 400;
const wave = (scale: number, shift: number) =>
  Float32Array.from({ length: W }, (_, w) => scale * Math.sin(3 * w + shift));

const BEFORE: AdamState = {
  weight_W: wave(0.5, 0),
  m_W: wave(1e-3, 1),
  v_W: new Float32Array(W).fill(1e-6),
};
const GRADIENTS = [wave(2e-3, 2), wave(2e-3, 3)];
const SETTINGS = { learningRate: 1e-3, betas: [0.9, 0.99], eps: 1e-8, maxNorm: 0.02 } as const;

type Step = Parameters<typeof clipAdam>[1];

/** What a trainer leaves, in f32. @param change What is wrong with a step, by its place. */
function leftBy(change: (step: Step, i: number) => Partial<Step> = () => ({})): AdamState {
  const after = GRADIENTS.reduce<AdamState>((state, gradient_W, i) => {
    const step = { ...SETTINGS, gradient_W, stepNumber: 11 + i };
    const next = clipAdam(state, { ...step, ...change(step, i) });
    return {
      weight_W: Float32Array.from(next.weight_W),
      m_W: Float32Array.from(next.m_W),
      v_W: Float32Array.from(next.v_W),
    };
  }, BEFORE);
  return after;
}

function optimizer(after: AdamState, more: Partial<OptimizerProbe> = {}): Promise<CheckResult> {
  const tensors = [{ name: "first", offset: 0, length: 100 }, {
    name: "rest",
    offset: 100,
    length: 300,
  }];
  const probe = {
    ...SETTINGS,
    firstStep: 11,
    before: BEFORE,
    after,
    gradients: GRADIENTS,
    tensors,
  };
  return resultOf("optimizer_step", {
    optimizerProbe: () => Promise.resolve({ ...probe, ...more }),
  });
}

Deno.test("optimizer_step holds two steps from stored moments to Adam", async () => {
  const { verdict, value } = await optimizer(leftBy());
  assertEquals(verdict, "holds");
  assert(value! > 0, "f32 rounds");
  const decayed = (state: AdamState): AdamState => ({
    ...state,
    weight_W: Array.from(state.weight_W, (weight) => weight * (1 - 0.01 * 1e-3)),
  });
  const wrong: Record<string, AdamState> = {
    "the bias uncorrected": leftBy(() => ({ stepNumber: 1_000_000 })),
    "the count begun again": leftBy((_, i) => ({ stepNumber: 1 + i })),
    "moments forgotten": GRADIENTS.reduce<AdamState>(
      (state, gradient_W, i) => clipAdam(state, { ...SETTINGS, gradient_W, stepNumber: 11 + i }),
      { ...BEFORE, m_W: new Float32Array(W), v_W: new Float32Array(W) },
    ),
    "a rate that falls": leftBy((_, i) => ({ learningRate: 1e-3 * (1 - (10 + i) / 1000) })),
    "a twentieth of the rate": leftBy(() => ({ learningRate: 5e-5 })),
    "no clip": leftBy(() => ({ maxNorm: Infinity })),
    "other betas": leftBy(() => ({ betas: [0.9, 0.999] })),
    "gradients not zeroed": leftBy(({ gradient_W }, i) => ({
      gradient_W: Array.from(gradient_W, (g, w) => g + (i === 1 ? at(GRADIENTS[0]!, w) : 0)),
    })),
    "weight decay": decayed(leftBy()),
    "a double step": clipAdam(leftBy(), { ...SETTINGS, gradient_W: GRADIENTS[1]!, stepNumber: 13 }),
    "an optimizer of nothing": BEFORE,
    "a part of the weights left out": {
      ...leftBy(),
      weight_W: Array.from(
        leftBy().weight_W,
        (weight, w) => w < 100 ? at(BEFORE.weight_W, w) : weight,
      ),
    },
    "no number": { ...leftBy(), v_W: Array(W).fill(NaN) },
  };
  for (const [what, after] of Object.entries(wrong)) {
    assertEquals((await optimizer(after)).verdict, "violated", what);
  }
});

Deno.test("optimizer_step allows what f32 rounds of tiny steps, and asks every tensor to move", async () => {
  const tiny = { learningRate: 1e-7 };
  assertEquals((await optimizer(leftBy(() => tiny), tiny)).verdict, "holds");
  assertEquals((await optimizer(leftBy(() => ({ learningRate: 3e-7 })), tiny)).verdict, "violated");
  const frozen = GRADIENTS.map((gradient_W) => gradient_W.map((g, w) => w < 100 ? 0 : g));
  const left = frozen.reduce<AdamState>(
    (state, gradient_W, i) => clipAdam(state, { ...SETTINGS, gradient_W, stepNumber: 11 + i }),
    BEFORE,
  );
  const { verdict, value, reason } = await optimizer(left, { gradients: frozen });
  assertEquals([verdict, value, reason], ["violated", 1, "tensors without a gradient: first"]);
  const none = GRADIENTS.map(() => new Float32Array(W));
  const { lack } = await optimizer(BEFORE, { gradients: none });
  assertEquals(lack, "batch");
});
