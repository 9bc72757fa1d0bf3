/** The temperature that a dump says its policy was asked for. */
import type { TokenSequence } from "../../tokens/token_batch.ts";

/** The one temperature of all sequences; undefined where one tells none, they differ, or it is greedy decoding. */
export function statedTemperature(sequences: readonly TokenSequence[]): number | undefined {
  const [first] = sequences;
  const temperature = first?.temperature;
  const isOne = temperature !== undefined && temperature > 0 && Number.isFinite(temperature) &&
    sequences.every((sequence) => sequence.temperature === temperature);
  return isOne ? temperature : undefined;
}
