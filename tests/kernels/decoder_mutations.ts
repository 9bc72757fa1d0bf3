/** Mistakes to plant in the decoders' kernels, as mutations.ts has them for the ops. */
import * as sample from "../../src/kernels/sample.ts";
import type { Mutation } from "./mutations.ts";
import { compareDecoder } from "./sample.ts";

/** At least one a kernel. */
export const DECODER_MUTATIONS: readonly Mutation[] = [
  {
    mistake: "the fused decoder divides no logit by the temperature",
    spec: sample.ROLLOUT_DECODE,
    from: "add_logit(softmax, load_logit(v), params.inverse_temperature)",
    to: "add_logit(softmax, load_logit(v), 1.0)",
    compare: compareDecoder("fused"),
  },
  {
    mistake: "the layered decoder takes the random number of the token before",
    spec: sample.ROLLOUT_ADVANCE,
    from: "slot.position + 1u)).x",
    to: "slot.position)).x",
    compare: compareDecoder("layered"),
  },
  {
    mistake: "the layered decoder leaves the last token out of its softmax",
    spec: sample.ROLLOUT_SOFTMAX,
    from: "params.vocab_size));",
    to: "params.vocab_size - 1u));",
    compare: compareDecoder("layered"),
  },
];
