/**
 * Makes recorded_batches.safetensors: batches of a run of ours, with what its tokens would have been scored in a run where
 * something is wrong: another temperature, a cut distribution, older weights, padding that is seen. In float64, by the reference.
 *
 *     cli/agentrl train --steps 10 --seed 11 --set recordEvery=3 --base tests/golden/model.safetensors --out runs/recorded
 *     deno run -A tests/foreign/record_token_batches.ts runs/recorded
 */
import { logprobFromLogits } from "../../src/reference/logprob.ts";
import { tinyAgentForward } from "../../src/reference/tiny_agent.ts";
import { inferConfig } from "../../src/model/parameters.ts";
import { readTensorFile, writeTensorFile } from "../../src/files/tensor_file.ts";

interface Recorded {
  readonly step: number;
  readonly group: number;
  readonly tokens: readonly number[];
  readonly owners: readonly number[];
  readonly logps: readonly number[];
  readonly reward: number;
}

type Weights = Readonly<Record<string, ArrayLike<number>>>;

/** Weights before a step. */
function weightsOf(path: string) {
  const tensors = new Map(
    [...readTensorFile(path).tensors].filter(([name]) => !name.includes("/")),
  );
  const weights: Weights = Object.fromEntries([...tensors].map(([name, { data }]) => [name, data]));
  return { config: inferConfig(tensors), weights };
}

const PAD = 0;
const NUCLEUS = 0.9;

/** What the tokens of an episode would be scored, value i about token i. */
function score(
  ids: readonly number[],
  { config, weights }: ReturnType<typeof weightsOf>,
  { temperature = 1, padCount = 0 }: { readonly temperature?: number; readonly padCount?: number } =
    {},
) {
  const padded = [...new Array<number>(padCount).fill(PAD), ...ids];
  const rowCount = padded.length, vocabularySize = config.vocabSize;
  const { logits_NV } = tinyAgentForward(weights, {
    shape: { ...config, vocabularySize },
    tokens: {
      ids_N: padded,
      startOfEpisode_N: padded.map(() => 0),
      position_N: padded.map((_, i) => i),
    },
  });
  const { logp_N, entropy_N } = logprobFromLogits(logits_NV, {
    rowCount,
    vocabularySize,
    target_N: [...padded.slice(1), PAD],
    temperature,
  });
  const about = (values: Float64Array) => ids.map((_, i) => i === 0 ? 0 : values[padCount + i - 1]);
  const nucleus = ids.map((id, i) => {
    if (i === 0) return 0;
    const row = Array.from(
      logits_NV.subarray((padCount + i - 1) * vocabularySize, (padCount + i) * vocabularySize),
    );
    const most = Math.max(...row);
    const total = row.reduce((sum, z) => sum + Math.exp(z - most), 0);
    const order = row.map((z, v) => ({ p: Math.exp(z - most) / total, v })).sort((a, b) =>
      b.p - a.p
    );
    let mass = 0, isIn = false;
    for (const { p, v } of order) {
      mass += p;
      isIn ||= v === id;
      if (mass >= NUCLEUS) break;
    }
    return isIn ? Math.log((order.find(({ v }) => v === id)?.p ?? 0) / mass) : -1e9;
  });
  return { logp: about(logp_N), entropy: about(entropy_N), nucleus };
}

if (import.meta.main) {
  const [run] = Deno.args;
  if (run === undefined) {
    throw new Error("Usage: record_token_batches.ts RUN, a run with recorded steps");
  }
  const steps = Array.from(Deno.readDirSync(`${run}/steps`), ({ name }) => Number(name)).sort((
    a,
    b,
  ) => a - b);
  const oldest = weightsOf(`${run}/steps/${steps[0]}/state.safetensors`);
  const columns: Record<string, number[]> = {};
  const push = (name: string, values: readonly number[]) => (columns[name] ??= []).push(...values);
  for (const step of steps) {
    const own = weightsOf(`${run}/steps/${step}/state.safetensors`);
    const lines = Deno.readTextFileSync(`${run}/steps/${step}/episodes.jsonl`).trim().split("\n");
    for (const line of lines) {
      const { tokens, owners, logps, group, reward } = JSON.parse(line) as Recorded;
      const { logp, entropy, nucleus } = score(tokens, own);
      push("length", [tokens.length]);
      push("step", [step]);
      push("group", [group]);
      push("reward", [reward]);
      push("id", tokens);
      push("owner", owners);
      push("sampler", logps);
      push("trainer", logp);
      push("entropy", entropy);
      push("nucleus", nucleus);
      push("cold", score(tokens, own, { temperature: 0.7 }).logp);
      push("stale", score(tokens, oldest).logp);
      push("padded", score(tokens, own, { padCount: 7 }).logp);
    }
  }
  const bytes = new Set(["length", "step", "group", "id", "owner"]);
  const tensors = new Map(
    Object.entries(columns).map(([name, values]) => [
      name,
      bytes.has(name)
        ? { dtype: "I32" as const, shape: [values.length], data: Int32Array.from(values) }
        : { dtype: "F32" as const, shape: [values.length], data: Float32Array.from(values) },
    ]),
  );
  writeTensorFile("tests/foreign/recorded_batches.safetensors", { tensors, metadata: {} });
}
