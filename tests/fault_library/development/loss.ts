/** Faults in the loss: KL, entropy, ratio, clip, mask and aggregation. */
import type { PlantedFault } from "../fault.ts";
import { lossTermIs, maskIs, POLICY_LOSS, remembers, STAGES, TRAINER } from "../places.ts";

const REUSED = "    if (this.#reference) return this.#reference.plan;";

/** The reference becomes a copy of the current weights where a condition on the trainer holds. */
function resyncedWhere(condition: string) {
  return {
    file: TRAINER,
    find: REUSED,
    put: `    if (this.#reference?.parameters && ${condition}) {
      writeParameters(
        this.learner.commands,
        this.#reference.parameters,
        await readParameters(this.learner.commands, this.learner.parameters),
      );
    }
${REUSED}`,
  };
}

export const LOSS: readonly PlantedFault[] = [
  {
    name: "kl_sign",
    kind: "KL",
    summary: "The KL term is subtracted from the loss, so that it pushes away from the reference.",
    shows: "kl_ref rises far above that of other runs, and the policy falls apart.",
    named: [],
    near: [],
    begins: 0,
    patches: [lossTermIs("klCoef", "-config.klCoef")],
    settings: ["klCoef=0.1"],
  },
  {
    name: "reference_resynced",
    kind: "KL",
    summary: "The reference is copied from the policy afresh before every update.",
    shows: "kl_ref stays near 0 and the penalty does nothing.",
    named: ["ref_is_policy"],
    near: [],
    begins: 1,
    patches: [resyncedWhere("true")],
    settings: ["klCoef=0.1"],
  },
  {
    name: "reference_every_eighth",
    kind: "KL",
    summary: "The reference is copied from the policy every eighth step, which nobody configured.",
    shows: "kl_ref falls back to 0 every eight steps.",
    named: [],
    near: ["ref_is_policy"],
    begins: 8,
    patches: [resyncedWhere("this.#state.step > 0 && this.#state.step % 8 === 0")],
    settings: ["klCoef=0.1"],
  },
  {
    name: "reference_bf16",
    kind: "KL",
    summary: "The reference is loaded in bf16 beside a policy in f32.",
    shows: "kl_ref is a little above 0 before the first update.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: TRAINER,
      find:
        "      this.#reference_W ?? await readParameters(this.setup.commands, learner.parameters),",
      put: `      new Float32Array(
        new Uint32Array((await readParameters(this.learner.commands, learner.parameters)).buffer)
          .map((bits) => bits & 0xffff0000).buffer,
      ),`,
    }],
    settings: ["klCoef=0.1"],
  },
  {
    name: "kl_k1_gradient",
    kind: "KL",
    summary: "The loss takes k1, whose gradient is 0 on average, although k3 is configured.",
    shows: "kl_ref rises as if there were no penalty.",
    named: [],
    near: [],
    begins: 0,
    patches: [lossTermIs("klKind", '"k1"')],
    settings: ["klCoef=0.1"],
  },
  {
    name: "entropy_sign_small",
    kind: "entropy",
    summary: "A configured entropy bonus of 0.01 has the wrong sign.",
    shows: "Entropy falls a little faster than usual.",
    named: ["entropy_sign"],
    near: [],
    begins: 0,
    patches: [lossTermIs("entropyCoef", "-config.entropyCoef")],
    settings: ["entropyCoef=0.01"],
  },
  {
    name: "entropy_sign_large",
    kind: "entropy",
    summary: "A configured entropy bonus of 0.3 has the wrong sign.",
    shows: "Entropy is 0 within a few steps, and exploration with it.",
    named: ["entropy_sign"],
    near: [],
    begins: 0,
    patches: [lossTermIs("entropyCoef", "-config.entropyCoef")],
    settings: ["entropyCoef=0.3"],
  },
  {
    name: "entropy_sum",
    kind: "entropy",
    summary: "The entropy bonus is a sum over the tokens of the minibatch instead of their mean.",
    shows: "Entropy rises to that of random tokens, and most calls are malformed.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: POLICY_LOSS,
      find: "-params.entropy_coef * objective.z)",
      put: "-params.entropy_coef * select(0.0, 1.0, objective.z != 0.0))",
    }],
    settings: ["entropyCoef=0.01"],
  },
  {
    name: "entropy_unasked",
    kind: "entropy",
    summary: "A coefficient of 0 counts as missing and is replaced by a default of 0.1.",
    shows: "Entropy stays up, and the reward rises slowly.",
    named: [],
    near: [],
    begins: 0,
    patches: [lossTermIs("entropyCoef", "config.entropyCoef || 0.1")],
  },
  {
    name: "old_logp_previous_step",
    kind: "ratio",
    summary: "The old log-probs are computed with the weights of the step before.",
    shows: "Ratios are not 1 before the first optimizer step of a batch, and the clip bites early.",
    named: [],
    near: ["stale_sampler", "sampler_temp"],
    begins: 1,
    patches: [
      remembers("#late_W: Float32Array<ArrayBuffer> | undefined"),
      {
        file: TRAINER,
        find: "    const oldLogp_BC = await stages.oldLogp(batch, { ...context, mask_BC });",
        put: `    const { parameters } = this.learner;
    const now_W = await readParameters(this.learner.commands, parameters);
    writeParameters(this.learner.commands, parameters, this.#late_W ?? now_W);
    const oldLogp_BC = await this.recompute(batch);
    writeParameters(this.learner.commands, parameters, now_W);
    this.#late_W = now_W;`,
      },
    ],
  },
  {
    name: "old_logp_zero",
    kind: "ratio",
    summary: "The column of old log-probs is never filled: the ratio is the probability itself.",
    shows: "Gradients are small, and rare tokens never learn.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: "src/rl/objective.ts",
      find: "    gridToRows(batch, oldLogp_BC),",
      put: "    new Float32Array(batch.rowCount),",
    }],
  },
  {
    name: "record_f16",
    kind: "ratio",
    summary: "The sampler's log-probs travel to the trainer as f16.",
    shows: "Sampler and trainer differ by a few ten-thousandths of a nat.",
    named: [],
    near: ["sampler_logp_temp"],
    begins: 0,
    patches: [{
      file: "src/rl/train_batch.ts",
      find: "sampleLogp_BC[b * C + t - 1] = logps[t] ?? 0;",
      put: "sampleLogp_BC[b * C + t - 1] = Math.f16round(logps[t] ?? 0);",
    }],
  },
  {
    name: "clip_none",
    kind: "clip",
    summary: "The surrogate takes the unclipped branch always.",
    shows: "Nothing as long as updates are small; clip_frac is written as usual.",
    named: [],
    near: [],
    begins: 0,
    patches: [{
      file: POLICY_LOSS,
      find: "return select(0.0, -unclipped, unclipped <= clipped);",
      put: "return -unclipped;",
    }],
  },
  {
    name: "microbatch_own_mean",
    kind: "accumulation",
    summary: "Each of four microbatches takes the mean over its own tokens.",
    shows: "Little: tokens of short microbatches weigh more.",
    named: ["accum_local"],
    near: [],
    begins: 0,
    patches: [{
      file: STAGES,
      find: "        .map((run) => ({ ...weights, episodes: run }));",
      put: `        .flatMap((run) => onePass(run, context))
        .map((part) => ({
          ...part,
          weight_BC: Array.from(part.weight_BC, (w) => w / context.config.microbatches),
          meanWeight_BC: Array.from(part.meanWeight_BC, (w) => w / context.config.microbatches),
        }));`,
    }],
    settings: ["microbatches=4"],
  },
  {
    name: "aggregation_ignored",
    kind: "accumulation",
    summary:
      "The loss takes the mean within each episode first, although token_mean is configured.",
    shows: "Failures get longer where there is room for it.",
    named: ["length_bias"],
    near: [],
    begins: 0,
    patches: [{
      file: STAGES,
      find: "      mode: config.aggregation,",
      put: '      mode: "seq_mean_token_mean",',
    }],
  },
  {
    name: "mask_first_token",
    kind: "mask",
    summary: "The first token of every call is left out of the loss.",
    shows: "Fewer trained tokens than the policy wrote.",
    named: [],
    near: ["mask_end_call", "mask_shift"],
    begins: 0,
    patches: [maskIs(
      "policyMask_BC.map((m, i) => i % C > 0 && policyMask_BC[i - 1] === 0 ? 0 : m)",
    )],
  },
  {
    name: "mask_last_turn",
    kind: "mask",
    summary: "Only the last call of an episode is trained.",
    shows: "Fewer trained tokens than the policy wrote; it learns to submit and not to read.",
    named: [],
    near: ["mask_end_call"],
    begins: 0,
    patches: [maskIs(
      `policyMask_BC.map((m, i) => {
    const { owners } = trajectories[Math.floor(i / C)];
    return owners.subarray(i % C + 1).includes(3) ? 0 : m;
  })`,
    )],
  },
  {
    name: "mask_past_end",
    kind: "mask",
    summary: "The padding behind the last token of an episode is trained as well.",
    shows: "More trained tokens than the policy wrote, and a large gap to the sampler.",
    named: [],
    near: ["mask_shift"],
    begins: 0,
    patches: [maskIs(
      "policyMask_BC.map((m, i) => i % C + 1 === trajectories[Math.floor(i / C)].ids.length ? 1 : m)",
    )],
  },
  {
    name: "mask_truncated",
    kind: "mask",
    summary: "The mask is cut after sixteen tokens, a length limit of another project.",
    shows: "Fewer trained tokens than the policy wrote; late calls never learn.",
    named: [],
    near: ["mask_end_call"],
    begins: 0,
    patches: [maskIs("policyMask_BC.map((m, i) => i % C >= 16 ? 0 : m)")],
  },
  {
    name: "mask_budget_episodes",
    kind: "mask",
    summary: "Episodes that ran out of turns are left out of the loss, which nobody configured.",
    shows: "Fewer trained tokens than the policy wrote; episodes get longer.",
    named: [],
    near: ["mask_end_call", "length_bias"],
    begins: 0,
    patches: [maskIs(
      'policyMask_BC.map((m, i) => trajectories[Math.floor(i / C)].info.stop === "budget" ? 0 : m)',
    )],
  },
  {
    name: "mask_shift_left",
    kind: "mask",
    summary: "The loss mask stands one token too far left.",
    shows: "A large gap to the sampler: prompts and observations are trained.",
    named: ["mask_shift"],
    near: [],
    begins: 0,
    patches: [maskIs(
      "policyMask_BC.map((_, i) => i % C === C - 1 ? 0 : policyMask_BC[i + 1])",
    )],
  },
];
