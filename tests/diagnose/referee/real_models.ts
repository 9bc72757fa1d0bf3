/** Folders of models in float64: whole, and an adapter beside its base. */
import type { Weights64 } from "../../model/float64_decoder.ts";
import {
  type FileTensor,
  type RandomConfig,
  randomValues,
  weightsOf,
  writeWeights,
} from "../../model/random_decoder.ts";
import type { RealDump } from "./real_sides.ts";

/** Writes a model's folder. */
export function writeModel(folder: string, config: RandomConfig, weights: Weights64): void {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(`${folder}/config.json`, JSON.stringify({ ...config, bos_token_id: 1 }));
  const tensors = Array.from(
    weightsOf(config),
    ([name, { shape }]): [string, FileTensor] => [name, {
      shape,
      dtype: "F32",
      values: () => Float32Array.from(weights.get(name)!),
    }],
  );
  writeWeights(`${folder}/model.safetensors`, new Map(tensors));
}

/** Writes an adapter of the last feed-forward, and answers the weights with it. */
export function writeAdapter(
  folder: string,
  { config, weights, seed }: Pick<RealDump, "config" | "weights" | "seed">,
): Weights64 {
  const { hidden_size: D, intermediate_size: F, num_hidden_layers } = config;
  const module = `model.layers.${num_hidden_layers - 1}.mlp.down_proj`;
  const values = (name: string, shape: readonly number[], scale: number) =>
    randomValues(`${seed}/${name}`, { shape, scale, offset: 0 });
  const [a, b] = [values("A", [2, F], 0.3), values("B", [D, 2], 0.1)];
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(
    `${folder}/adapter_config.json`,
    JSON.stringify({ peft_type: "LORA", r: 2, lora_alpha: 4, target_modules: ["down_proj"] }),
  );
  const half = (shape: readonly number[], own: Float32Array<ArrayBuffer>): FileTensor => ({
    shape,
    dtype: "F32",
    values: () => own,
  });
  writeWeights(
    `${folder}/adapter_model.safetensors`,
    new Map([
      [`base_model.model.${module}.lora_A.weight`, half([2, F], a)],
      [`base_model.model.${module}.lora_B.weight`, half([D, 2], b)],
    ]),
  );
  const merged = weights.get(`${module}.weight`)!.map((value, i) => {
    const [d, f] = [Math.floor(i / F), i % F];
    return value + 2 * (b[2 * d]! * a[f]! + b[2 * d + 1]! * a[F + f]!);
  });
  return new Map([...weights, [`${module}.weight`, merged]]);
}
