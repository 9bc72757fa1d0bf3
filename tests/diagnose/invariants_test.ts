/** Tests of src/diagnose/invariants.ts on a toy trainer: the library needs no GPU, and each check can fail. */
import { assert, assertEquals } from "@std/assert";
import type { CheckableTrainer, CheckedUpdate, LossInputs } from "../../src/diagnose/invariant.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { checkSchema } from "../../src/diagnose/check_schema.ts";
import { checkInvariants, violated } from "../../src/diagnose/invariants.ts";

/** Four episodes of two problems; positions 1 and 2 are the policy's, 3 the tool's. */
const REWARDS = [1, 0, 0, 0];
const OWNERS = [1, 2, 2, 3];
const C = OWNERS.length - 1;
const GROUPS = [0, 0, 1, 1];

function advantagesOf(groupId_B: readonly number[]): number[] {
  return REWARDS.map((reward, b) => {
    const own = REWARDS.filter((_, other) => groupId_B[other] === groupId_B[b]);
    return reward - own.reduce((sum, r) => sum + r, 0) / own.length;
  });
}

function grid(value: (b: number, t: number) => number, columns = C): number[] {
  return REWARDS.flatMap((_, b) => Array.from({ length: columns }, (_, t) => value(b, t)));
}

const policyMask = (columns = C) => grid((_, t) => Number(OWNERS[t + 1] === 2), columns);

/** A right trainer with 1e-6 of rounding, and what a test makes wrong. */
function toyTrainer(
  wrong: {
    readonly inputs?: (padColumns: number) => Partial<LossInputs>;
    readonly update?: Partial<CheckedUpdate>;
    readonly trainer?: Partial<CheckableTrainer>;
  } = {},
): CheckableTrainer {
  const advantage_B = advantagesOf(GROUPS);
  return {
    episodes: REWARDS.map((reward, b) => ({
      owners: OWNERS,
      logps: [0, -1, -1, 0],
      reward,
      problem: `p${GROUPS[b]}`,
    })),
    groupId_B: GROUPS,
    stepsPerUpdate: 2,
    logpTolerance: 1e-4,
    lossInputs: (padColumns) =>
      Promise.resolve({
        columnCount: C + padColumns,
        mask_BC: policyMask(C + padColumns),
        oldLogp_BC: grid(() => -1, C + padColumns),
        logp_BC: grid(() => -1 + 1e-6, C + padColumns),
        advantage_B,
        loss: 0.25,
        ...wrong.inputs?.(padColumns),
      }),
    advantages: advantagesOf,
    gradient: () => Promise.resolve([3, 4]),
    update: () =>
      Promise.resolve({
        approxKl: 1e-3,
        logp_BC: grid((b) => -1 + 0.1 * advantage_B[b]),
        referenceLogp_BC: grid(() => -1),
        ...wrong.update,
      }),
    updateWithoutSignal: () => Promise.resolve(0),
    ...wrong.trainer,
  };
}

async function violatedIds(trainer: CheckableTrainer): Promise<number[]> {
  return violated(await checkInvariants(trainer)).map(({ id }) => id);
}

Deno.test("checkInvariants() finds nothing in a right trainer, rounding included", async () => {
  const results = await checkInvariants(toyTrainer());
  assertEquals(results.map(({ id }) => id), INVARIANTS.map(({ id }) => id));
  const [first, further] = [results.slice(0, 11), results.slice(11)];
  assertEquals(first.map(({ id }) => id), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assertEquals(new Set(first.map(({ verdict }) => verdict)), new Set(["holds"]));
  // The further ones ask for evidence that this trainer does not give.
  assertEquals(new Set(further.map(({ verdict }) => verdict)), new Set(["not-checkable"]));
  assert(results[1].value! > 0 && results[1].value! < 2e-6, "rounding is measured");
  assert(Math.abs(results[7].value! - 1) < 1e-12, "moves along the advantages");
});

const FAULTS: readonly (readonly [number[], string, Parameters<typeof toyTrainer>[0]])[] = [
  [[1], "a policy token is not trained", {
    inputs: (pad) => ({ mask_BC: grid((b, t) => Number(t === 0 || (t === 1 && b > 0)), C + pad) }),
  }],
  [[1, 2], "an observation is trained, of which the sampler has no log-prob", {
    inputs: (pad) => ({ mask_BC: grid((_, t) => Number(t < 3), C + pad) }),
  }],
  [[2], "the sampler's record is off by 0.01", {
    trainer: {
      episodes: toyTrainer().episodes.map((episode) => ({ ...episode, logps: [0, -1, -1.01, 0] })),
    },
  }],
  [[3], "π_old is off by 0.01", { inputs: (pad) => ({ oldLogp_BC: grid(() => -1.01, C + pad) }) }],
  [[3], "π_old is not a number", { inputs: (pad) => ({ oldLogp_BC: grid(() => NaN, C + pad) }) }],
  [[4, 11], "advantages are the rewards", { inputs: () => ({ advantage_B: REWARDS }) }],
  [[5], "the loss depends on padding", { inputs: (pad) => ({ loss: 0.25 + pad / 100 }) }],
  [[6], "accumulation halves an entry", {
    trainer: { gradient: (kind) => Promise.resolve(kind === "one-pass" ? [3, 4] : [3, 2]) },
  }],
  [[7], "π_old moves along", { update: { approxKl: 1e-9 } }],
  [[8], "the update falls where A > 0", {
    update: { logp_BC: grid((b) => -1 - 0.1 * advantagesOf(GROUPS)[b]) },
  }],
  [[9], "the reference moves along", {
    update: { referenceLogp_BC: grid((b) => -1 + 0.1 * advantagesOf(GROUPS)[b]) },
  }],
  [[10], "weights move without a signal", {
    trainer: { updateWithoutSignal: () => Promise.resolve(1e-3) },
  }],
  [[11], "groups are laid out wrongly", {
    trainer: { groupId_B: [0, 1, 0, 1] },
    inputs: () => ({ advantage_B: advantagesOf([0, 1, 0, 1]) }),
  }],
];

for (const [ids, what, wrong] of FAULTS) {
  Deno.test(`checkInvariants() violates ${ids.join(" and ")} when ${what}`, async () => {
    assertEquals(await violatedIds(toyTrainer(wrong)), ids);
  });
}

Deno.test("checkInvariants() says why a check is not applicable", async () => {
  const results = await checkInvariants(toyTrainer({
    trainer: { groupId_B: undefined, stepsPerUpdate: 1 },
    update: { referenceLogp_BC: undefined },
  }));
  const apart = results.filter(({ verdict }) => verdict === "not-applicable");
  assertEquals(apart.map(({ id }) => id), [4, 7, 9, 11]);
  for (const { value, reason } of apart) {
    assertEquals(value, null);
    assert(reason.length > 10);
  }
  assertEquals(violated(results), []);
});

Deno.test("checkInvariants() cannot tell a direction when all rewards are equal", async () => {
  const episodes = toyTrainer().episodes.map((episode) => ({ ...episode, reward: 1 }));
  const results = await checkInvariants(toyTrainer({ trainer: { episodes } }));
  assertEquals(results[7].verdict, "not-applicable");
});

const lacking = async (trainer: CheckableTrainer) => {
  const results = await checkInvariants(trainer);
  assertEquals(violated(results), []);
  return results.flatMap(({ id, lack }) => lack === undefined ? [] : [`${id} ${lack}`]);
};

/** What a right trainer answers where every reward is the same, so that nothing has a signal. */
const FLAT: Parameters<typeof toyTrainer>[0] = {
  inputs: () => ({ advantage_B: [0, 0, 0, 0], loss: 0 }),
  update: { approxKl: 0, logp_BC: grid(() => -1), largestGap: 1e-6 },
  trainer: {
    episodes: toyTrainer().episodes.map((episode) => ({ ...episode, reward: 0 })),
    advantages: () => [0, 0, 0, 0],
    gradient: () => Promise.resolve([0, 0]),
  },
};

const NO_SIGNAL = [5, 6, 7, 8, 9, 11].map((id) => `${id} batch`);

Deno.test("checkInvariants() violates nothing where the batch has no signal, and says that the batch lacks it", async () => {
  assertEquals(await lacking(toyTrainer(FLAT)), NO_SIGNAL);
  // Whoever does not report the gaps of the minibatches is judged by where the update ends.
  const { largestGap: _, ...update } = FLAT.update!;
  const unreported = toyTrainer({ ...FLAT, update });
  assertEquals(await lacking(unreported), NO_SIGNAL);
});

Deno.test("checkInvariants() tells what a setting lacks from what a batch lacks", async () => {
  const onPolicy = toyTrainer({
    trainer: { groupId_B: undefined, stepsPerUpdate: 1 },
    update: { referenceLogp_BC: undefined },
  });
  assertEquals(await lacking(onPolicy), ["4 setting", "7 setting", "9 setting", "11 setting"]);
});

Deno.test("checkInvariants() leaves the old log-probs alone where only the last minibatch has a signal", async () => {
  const update = { approxKl: 0, largestGap: 1e-6 };
  assertEquals(await lacking(toyTrainer({ update })), ["7 batch"]);
  // A minibatch that saw a moved policy must see another ratio than 1.
  assertEquals(await violatedIds(toyTrainer({ update: { approxKl: 0, largestGap: 0.1 } })), [7]);
});

Deno.test("checkInvariants() does not take a loss of 0 for one that padding cannot change", async () => {
  for (const loss of [0, 1e-7]) {
    // A mean over all cells: the padded loss is smaller in the ratio of the columns.
    const inputs = (pad: number) => ({ loss: loss * C / (C + pad) });
    assertEquals(await lacking(toyTrainer({ inputs })), ["5 batch"]);
  }
  const inputs = (pad: number) => ({ loss: pad === 0 ? 0 : 0.1 });
  assertEquals(await violatedIds(toyTrainer({ inputs })), [5]);
  assertEquals(await violatedIds(toyTrainer({ inputs: () => ({ loss: NaN }) })), [5]);
});

Deno.test("checkInvariants() looks for padding in the gradient where the terms of the loss cancel", async () => {
  const padding = async (scale: number) => {
    const inputs = (pad: number) => ({
      loss: 1e-9,
      gradient_W: [3, 4].map((value) => pad === 0 ? value : value * scale),
    });
    return (await checkInvariants(toyTrainer({ inputs })))[4]!;
  };
  const right = await padding(1 + 1e-6);
  assertEquals([right.verdict, right.bound], ["holds", 1e-4]);
  assert(right.value! > 0 && right.reason.startsWith("change of the gradient by 8 columns"));
  const wrong = await padding(C / (C + 8));
  assertEquals(wrong.verdict, "violated");
  assert(Math.abs(wrong.value! - 8 / (C + 8)) < 1e-12, String(wrong.value));
  assertEquals((await padding(NaN)).verdict, "violated");
});

Deno.test("checkInvariants() violates 8 where a gradient moves nothing", async () => {
  const update = { approxKl: 0, logp_BC: grid(() => -1) };
  assertEquals(await violatedIds(toyTrainer({ update })), [8]);
});

Deno.test("checkInvariants() judges batches of one episode, one token, and groups of one", async () => {
  const [first] = toyTrainer().episodes;
  const one = { ...first!, owners: [1, 2], logps: [0, -1] };
  const small = (episodes: readonly (typeof one)[], groupId_B: readonly number[] | undefined) => {
    const advantage_B = episodes.map(() => 0.3);
    const columns = (value: number, pad: number) =>
      episodes.flatMap(() => [value, ...Array(pad).fill(0)]);
    return toyTrainer({
      inputs: (pad) => ({
        columnCount: 1 + pad,
        mask_BC: columns(1, pad),
        oldLogp_BC: columns(-1, pad),
        logp_BC: columns(-1, pad),
        advantage_B,
      }),
      update: {
        logp_BC: episodes.map((_, b) => -0.9 - 0.01 * b),
        referenceLogp_BC: columns(-1, 0),
      },
      trainer: { episodes, groupId_B, advantages: () => advantage_B },
    });
  };
  assertEquals(await lacking(small([one], undefined)), ["4 setting", "8 batch", "11 setting"]);
  // Two episodes of the same tokens move alike, whatever they earn.
  const twins = small([{ ...one, reward: 1 }, { ...one, reward: 0 }], undefined);
  const alike = {
    ...twins,
    update: async () => ({ ...await twins.update(), logp_BC: [-0.9, -0.9] }),
  };
  assertEquals(await lacking(alike), ["4 setting", "8 batch", "11 setting"]);
  // Groups of one have no advantage to compare; that the trainer's mean is not 0 is its mistake.
  const alone = small([{ ...one, problem: "p" }, { ...one, problem: "q" }], [0, 1]);
  assertEquals(await violatedIds(alone), [4]);
  // A gradient of 0 in one pass and not in parts is one that depends on the parts.
  const parts = toyTrainer({
    ...FLAT,
    trainer: {
      ...FLAT.trainer,
      gradient: (kind) => Promise.resolve(kind === "one-pass" ? [0, 0] : [0, 1e-3]),
    },
  });
  assertEquals(await violatedIds(parts), [6]);
  // Nothing is the policy's.
  const none = small([{ ...one, owners: [1, 1] }], undefined);
  const empty = {
    ...none,
    lossInputs: async (pad: number) => ({
      ...await none.lossInputs(pad),
      mask_BC: Array(1 + pad).fill(0),
      loss: 0,
    }),
  };
  assertEquals(
    await lacking(empty),
    ["4 setting", "5 batch", "7 batch", "8 batch", "9 batch", "11 setting"],
  );
});

Deno.test("checkSchema takes every verdict as a document has it, and no other word", async () => {
  const verdicts = [
    ...await checkInvariants(toyTrainer({
      trainer: { groupId_B: undefined, stepsPerUpdate: 1 },
      inputs: () => ({ loss: NaN }),
    })),
    ...await checkInvariants(toyTrainer({ update: { logp_BC: grid(() => -1 + 1e-6) } })),
  ];
  const words = new Set(verdicts.map(({ verdict, lack = "" }) => `${verdict} ${lack}`.trim()));
  assertEquals(
    words,
    new Set([
      ...["holds", "violated", "not-checkable"],
      ...["not-applicable setting", "not-applicable batch"],
    ]),
  );
  for (const result of verdicts) {
    const document = JSON.parse(JSON.stringify(result));
    assertEquals(checkSchema.parse(document), document);
  }
  assert(!checkSchema.safeParse({ ...verdicts[0], verdict: "fine" }).success);
});
