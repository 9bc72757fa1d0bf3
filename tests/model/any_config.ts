/** A decoder's configuration for tests that look at a part of it. */
import type { DecoderConfig } from "../../src/model/decoder_config.ts";

/** A small Llama, but for what is given. */
export function anyConfig(given: Partial<DecoderConfig> = {}): DecoderConfig {
  return {
    architecture: "llama",
    vocabSize: 300,
    width: 32,
    headCount: 4,
    groupCount: 2,
    headWidth: 8,
    feedForwardWidth: 56,
    layerCount: 2,
    epsilon: 1e-6,
    theta: 1e4,
    scaling: { kind: "none" },
    biases: { qkv: false, attentionOutput: false, feedForward: false },
    hasHeadNorm: false,
    isTied: true,
    ...given,
  };
}
