/** Tests of src/diagnose/invariants.ts on a toy trainer: the library needs no GPU, and each check can fail. */
import { assert, assertEquals } from "@std/assert";
import {
  type CheckableTrainer,
  type CheckedUpdate,
  checkInvariants,
  type LossInputs,
  violated,
} from "../../src/diagnose/invariants.ts";

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
  assertEquals(results.map(({ id }) => id), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assertEquals(new Set(results.map(({ verdict }) => verdict)), new Set(["holds"]));
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
  [[3], "π_old is no number", { inputs: (pad) => ({ oldLogp_BC: grid(() => NaN, C + pad) }) }],
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
