/** Dumps of real decoders in the forms that trainers write. */
import type { LogProbSide } from "../../../src/tokens/token_batch.ts";
import type { RealDump, RealSides } from "./real_sides.ts";
import { writeDump } from "./decoder_dump.ts";

/** A form, and the sides that it has. */
export type RealForm = "common_dump" | "prime_rl" | "nemo_rl";

/** What else a dump says. */
export interface Stated {
  readonly temperature?: number;
  readonly step?: number;
}

function columns(dump: RealDump, sides: RealSides): Map<LogProbSide, number[][]> {
  return new Map(
    Object.entries(sides).map(([side, of]) =>
      [
        side as LogProbSide,
        dump.sequences.map((sequence) => of(sequence, dump)),
      ] as const
    ),
  );
}

const mask = (length: number, prompt: number) => Array.from({ length }, (_, i) => i >= prompt);

function primeRl(dump: RealDump, found: ReadonlyMap<LogProbSide, number[][]>): object[] {
  return dump.sequences.map(({ ids, prompt }, b) => ({
    schema_version: 1,
    step: 3,
    rank: 0,
    micro_step: 0,
    micro_sequence_idx: b,
    export_sequence_idx: b,
    env_name: "planted",
    token_ids: ids,
    position_ids: ids.map((_, i) => i),
    loss_mask: mask(ids.length, prompt),
    advantages: ids.map(() => b % 2 - 0.5),
    inference_logprobs: ids.map((_, i) => i < prompt ? 0 : found.get("sampler")?.[b]?.[i - 1] ?? 0),
    trainer_logprobs: [-5, ...found.get("trainer")![b]!],
  }));
}

function nemoRl(dump: RealDump, found: ReadonlyMap<LogProbSide, number[][]>): object[] {
  const width = Math.max(...dump.sequences.map(({ ids }) => ids.length)) + 3;
  const wide = (values: readonly number[]) => [[
    ...values,
    ...new Array<number>(width - values.length).fill(0),
  ]];
  return dump.sequences.map(({ ids, prompt }, b) => ({
    content: ["…"],
    rewards: [b % 2],
    input_lengths: [ids.length],
    token_ids: wide(ids),
    token_loss_mask: wide(mask(ids.length, prompt).map(Number)),
    sample_loss_mask: [1],
    advantages: wide(ids.map(() => b % 2 - 0.5)),
    generation_logprobs: wide(
      ids.map((_, i) => i < prompt ? 0 : found.get("sampler")![b]![i - 1]!),
    ),
    prev_logprobs: wide([0, ...found.get("old")![b]!]),
    idx: b,
  }));
}

/**
 * Writes a dump below a folder.
 *
 * @returns Its path.
 */
export function writeRealDump(
  folder: string,
  { dump, sides, form, stated = {} }: {
    readonly dump: RealDump;
    readonly sides: RealSides;
    readonly form: RealForm;
    readonly stated?: Stated;
  },
): string {
  const found = columns(dump, sides);
  if (form === "common_dump") {
    const path = `${folder}/tokens.jsonl`;
    writeDump(path, {
      ids_B: dump.sequences.map(({ ids }) => [...ids]),
      prompts: dump.sequences.map(({ prompt }) => prompt),
      lefts: dump.sequences.map(({ left }) => left),
      sides: Object.fromEntries(
        Array.from(found, ([side, rows]) => [side, rows.map((row) => [NaN, ...row])]),
      ),
      ...stated,
    });
    return path;
  }
  const rows = form === "prime_rl" ? primeRl(dump, found) : nemoRl(dump, found);
  const path = form === "prime_rl"
    ? `${folder}/token_exports/step_3/rank_0.jsonl`
    : `${folder}/train_data_step3.jsonl`;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}
