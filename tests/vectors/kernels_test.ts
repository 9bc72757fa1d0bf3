/** Our own kernels pass the vectors of the dialects that they implement, on the device. */
import { assert, assertEquals } from "@std/assert";
import { aggregationWeights } from "../../src/equations/aggregate.ts";
import { policyLoss, type PolicyLossOptions } from "../../src/equations/policy_loss.ts";
import {
  addLogprobBackward,
  addLogprobForward,
  headPartialBytes,
  segmentCount,
  tileWidth,
} from "../../src/kernels/logprob.ts";
import { chunkStarts } from "../../src/kernels/operands.ts";
import { addPolicyLoss } from "../../src/kernels/policy_loss.ts";
import { ALGORITHMS } from "../../src/rl/algorithms.ts";
import {
  runVectors,
  type VectorCall,
  type VectorFunction,
} from "../../src/vectors/judge_trainer.ts";
import { type JudgedFunction, vectorJudge } from "../../src/vectors/judge.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { withRun } from "../kernels/harness.ts";

const judge = vectorJudge();

const judged = async (family: string, run: VectorFunction): Promise<JudgedFunction> =>
  judge(await runVectors(family, run));

/** The only dialect that a function is, and that every vector says so. */
function assertMatches(found: JudgedFunction, dialects: readonly string[]): void {
  const said = JSON.stringify(found, null, 1);
  assertEquals([found.verdict, found.dialects], ["matches", [...dialects]], said);
  const family = VECTOR_FAMILIES.find(({ name }) => name === found.family)!;
  assertEquals(found.judged, family.cases.length);
}

const f32 = (values: readonly number[]) => Float32Array.from(values);

const valuesOf = ({ inputs }: VectorCall, name: string) => inputs[name]!.values;

/** d loss / d log-prob by the kernel of the policy loss, for weights that the host has made. */
async function kernelGradient(
  loss: PolicyLossOptions,
  columns: Readonly<
    Record<
      "logp" | "refLogp" | "oldLogp" | "advantage" | "weight" | "meanWeight",
      readonly number[]
    >
  >,
): Promise<number[]> {
  const rowCount = columns.logp.length;
  const four = (...of: readonly (readonly number[])[]) =>
    Float32Array.from({ length: 4 * rowCount }, (_, i) => of[i % 4]?.[i >> 2] ?? NaN);
  return await withRun(await testGpu(), async (run) => {
    const dresult_N2 = run.empty(2 * rowCount);
    const { logp, refLogp, oldLogp, advantage, weight, meanWeight } = columns;
    run.replay({ rowCount, loss }, (commands, plan) =>
      addPolicyLoss(commands, plan, {
        result_N4: run.tensor(four(logp)),
        reference_N4: run.tensor(four(refLogp)),
        objective_N4: run.tensor(four(advantage, weight, meanWeight, oldLogp)),
        dresult_N2,
      }));
    const read = await run.read(dresult_N2, 2 * rowCount);
    return Array.from({ length: rowCount }, (_, n) => read[2 * n]!);
  });
}

/** Algorithms with their own aggregation or another, and the whole loss that they are. */
const LOSSES = [
  ["ppo", undefined, "clip.token_mean.k3"],
  ["grpo", undefined, "clip.token_mean.k3"],
  ["grpo", "seq_mean_token_mean", "clip.seq_mean_token_mean.k3.of_token_mean"],
  ["drgrpo", undefined, "clip.constant_max_length.k3.of_token_mean"],
  ["rloo", undefined, "reinforce.seq_mean_token_sum.k3.of_token_mean"],
] as const;

for (const [name, chosen, dialect] of LOSSES) {
  const { surrogate, aggregation: own } = ALGORITHMS[name];
  const aggregation = chosen ?? own;
  gpuTest(
    `the loss of ${name} by ${aggregation} is ${dialect}, gradients by its kernel`,
    async () => {
      const found = await judged("loss", async (call) => {
        const { clipLow, clipHigh, klCoef, maxLength } = call.config;
        const loss: PolicyLossOptions = {
          surrogate,
          clipLow: clipLow!,
          clipHigh: clipHigh!,
          klKind: "k3",
          klCoef: klCoef!,
          entropyCoef: 0,
        };
        const [episodeCount = 0, columnCount = 0] = call.inputs.mask!.shape;
        const mask = valuesOf(call, "mask");
        const shape = { episodeCount, columnCount };
        const weights = { mode: aggregation, ...shape, normConst: episodeCount * maxLength! };
        const columns = {
          logp: valuesOf(call, "logp"),
          refLogp: valuesOf(call, "refLogp"),
          oldLogp: valuesOf(call, "oldLogp"),
          advantage: valuesOf(call, "advantage"),
          weight: Array.from(aggregationWeights(mask, weights)),
          meanWeight: Array.from(aggregationWeights(mask, { ...shape, mode: "token_mean" })),
        };
        const entropy_N = columns.logp.map(() => 0);
        const { loss: value } = policyLoss({
          logp_N: f32(columns.logp),
          refLogp_N: f32(columns.refLogp),
          oldLogp_N: f32(columns.oldLogp),
          advantage_N: f32(columns.advantage),
          weight_N: f32(columns.weight),
          meanWeight_N: f32(columns.meanWeight),
          entropy_N,
        }, loss);
        return { loss: value, dlogp: await kernelGradient(loss, columns) };
      });
      assertMatches(found, [dialect]);
    },
  );
}

gpuTest("the kernel's gradients are those of each estimator of the KL divergence", async () => {
  const found: string[] = [];
  for (const klKind of ["k1", "k2", "k3"] as const) {
    const { verdict, dialects, judged: count, differs } = await judged("kl", async (call) => {
      const logp = valuesOf(call, "logp");
      const [zero, one] = [logp.map(() => 0), logp.map(() => 1)];
      const loss = {
        surrogate: "reinforce",
        clipLow: 0,
        clipHigh: 0,
        klKind,
        klCoef: 1,
        entropyCoef: 0,
      } as const;
      const columns = {
        logp,
        refLogp: valuesOf(call, "refLogp"),
        oldLogp: zero,
        advantage: zero,
        weight: zero,
      };
      return { dlogp: await kernelGradient(loss, { ...columns, meanWeight: one }) };
    });
    assertEquals([verdict, count], ["matches", 8], JSON.stringify(differs));
    assert(dialects.includes(klKind));
    found.push(...dialects);
  }
  // By their gradients alone k2 cannot be told from estimators that borrow its gradient.
  assertEquals(found.sort(), [
    "k1",
    "k1_grad_k2",
    "k2",
    "k3",
    "k3_clamped_20_10_grad_k2",
    "k3_grad_k2",
  ]);
});

gpuTest("the kernel's surrogates are reinforce and clip", async () => {
  for (const [surrogate, dialect] of [["reinforce", "reinforce"], ["clipped", "clip"]] as const) {
    const found = await judged("surrogate", async (call) => {
      const { clipLow, clipHigh } = call.config;
      const weight = valuesOf(call, "mask");
      const logp = valuesOf(call, "logp");
      const dlogp = await kernelGradient(
        {
          surrogate,
          clipLow: clipLow!,
          clipHigh: clipHigh!,
          klKind: "k1",
          klCoef: 0,
          entropyCoef: 0,
        },
        {
          logp,
          refLogp: logp,
          oldLogp: valuesOf(call, "oldLogp"),
          advantage: valuesOf(call, "advantage"),
          weight,
          meanWeight: weight.map(() => 0),
        },
      );
      return { dlogp };
    });
    assertMatches(found, [dialect]);
  }
});

/** The head's width: logits are hidden states under a weight that is the identity. */
const WIDTH = 32;

gpuTest(
  "the log-prob kernels pass all vectors, with entropy and the gradient for logits",
  async () => {
    const found = await judged("logprob", async (call) => {
      const [rowCount = 0, vocabSize = 0] = call.inputs.logits!.shape;
      const logits = valuesOf(call, "logits");
      const h_ND = new Float32Array(rowCount * WIDTH);
      logits.forEach((value, i) => h_ND[Math.floor(i / vocabSize) * WIDTH + i % vocabSize] = value);
      // Weights [V, D], then the bias [V].
      const head = new Float32Array(vocabSize * (WIDTH + 1));
      for (let v = 0; v < vocabSize; v++) head[v * WIDTH + v] = 1;
      const shape = { width: WIDTH, vocabSize, weightOffset: 0 };
      const temperature = call.config.temperature!;
      const [dlogp, dentropy] = [valuesOf(call, "dlogp"), valuesOf(call, "dentropy")];
      return await withRun(await testGpu(), async (run) => {
        const h = run.rows(rowCount, WIDTH, h_ND);
        const { w } = run.flat(head);
        const target_N = run.tensor(Uint32Array.from(valuesOf(call, "target")));
        const result_N4 = run.empty(4 * rowCount);
        const dh_ND = run.empty(rowCount * WIDTH);
        run.replay(
          { rowCount, temperature },
          (commands, plan) =>
            addLogprobForward(commands, plan, {
              h_ND: h,
              w,
              target_N,
              segments: run.empty(4 * rowCount * segmentCount(vocabSize)),
              result_N4,
              shape,
            }),
        );
        run.replay(
          { rowCount, temperature, accumulate: false },
          (commands, plan) =>
            addLogprobBackward(commands, plan, {
              h_ND: h,
              w,
              target_N,
              result_N4,
              dresult_N2: run.tensor(
                Float32Array.from(
                  { length: 2 * rowCount },
                  (_, i) => (i % 2 ? dentropy : dlogp)[i >> 1]!,
                ),
              ),
              dz_NC: run.rows(rowCount, tileWidth(vocabSize)),
              chunkStart_9: run.tensor(chunkStarts(rowCount)),
              partials: run.empty(headPartialBytes(shape) / 4),
              dh_ND,
              gradient: run.flat(new Float32Array(head.length)).flat,
              shape,
            }),
        );
        const result = await run.read(result_N4, 4 * rowCount);
        const dh = await run.read(dh_ND, rowCount * WIDTH);
        return {
          logp: Array.from({ length: rowCount }, (_, n) => result[4 * n]!),
          entropy: Array.from({ length: rowCount }, (_, n) => result[4 * n + 1]!),
          dlogits: logits.map((_, i) => dh[Math.floor(i / vocabSize) * WIDTH + i % vocabSize]!),
        };
      });
    });
    assertMatches(found, ["softmax"]);
  },
);

Deno.test("the advantages of each algorithm are the dialect that docs/vectors.md says", async () => {
  const known = {
    grpo: "grpo_n-1_eps1e-6_single-0",
    drgrpo: "centered_single-0",
    rloo: "rloo_single-0",
  } as const;
  for (const [name, dialect] of Object.entries(known)) {
    const { advantage } = ALGORITHMS[name as keyof typeof known];
    const found = await judged("advantages", (call) => {
      const [rewards_B, groupId_B] = [valuesOf(call, "reward"), valuesOf(call, "group")];
      return { advantage: advantage({ rewards_B, groupId_B, baseline: 0 }).advantage_B };
    });
    // GRPO and RLOO refuse a group of one: that vector has no result, and says why.
    const isWhole = name === "drgrpo";
    assertEquals(found.verdict, isWhole ? "matches" : "incomplete", JSON.stringify(found));
    assert(found.dialects.includes(dialect));
    assertEquals(found.notes.some((note) => note.includes("needs at least 2")), !isWhole);
  }
});
