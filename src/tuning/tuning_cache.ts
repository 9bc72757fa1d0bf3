/** The layouts that were measured, one an adapter, in one small file. A file that cannot be used is not an error: defaults do. */
import { dirname } from "node:path";
import { z } from "zod";
import denoConfig from "../../deno.json" with { type: "json" };
import { UserError } from "../core/errors.ts";
import { type Tuning, TUNING_CANDIDATES } from "../gpu/tuning.ts";
import { writeFileAtomic } from "../files/atomic_file.ts";
import { asUserError } from "../files/file_error.ts";
import { exists } from "../files/paths.ts";
import { MAX_JSON_BYTES, readText } from "../files/read_file.ts";

const entrySchema = z.object({
  adapter: z.string(),
  os: z.string(),
  deno: z.string(),
  agentrl: z.string(),
  operand_memory: z.enum(["texture", "buffer"]),
  block_rows: z.int(),
  product_lanes: z.int(),
  decoder_lanes: z.int(),
  slot_count: z.int(),
});

const fileSchema = z.object({ layouts: z.array(entrySchema) });

type Entry = z.infer<typeof entrySchema>;

/** What is in the file about an adapter. */
export interface CachedTuning {
  /** The measured layout; undefined where there is none of this adapter, operating system, Deno and agentrl. */
  readonly tuning: Tuning | undefined;
  /** Why the file cannot be used; undefined where it can, or where it is not there yet. */
  readonly problem: string | undefined;
}

/** A measurement holds for what it was made with. */
function keyOf(adapter: string): Pick<Entry, "adapter" | "os" | "deno" | "agentrl"> {
  const { build: { os }, version: { deno } } = Deno;
  return { adapter, os, deno, agentrl: denoConfig.version };
}

function isOf(entry: Entry, adapter: string): boolean {
  const key = keyOf(adapter);
  return entry.adapter === key.adapter && entry.os === key.os && entry.deno === key.deno &&
    entry.agentrl === key.agentrl;
}

/** Only layouts that may be chosen: nothing else is tested. */
function candidateOf(entry: Entry): Tuning | undefined {
  return TUNING_CANDIDATES.find((tuning) =>
    tuning.operandMemory === entry.operand_memory && tuning.blockRows === entry.block_rows &&
    tuning.productLanes === entry.product_lanes && tuning.decoderLanes === entry.decoder_lanes &&
    tuning.slotCount === entry.slot_count
  );
}

/** @throws {UserError} When the file cannot be read or holds something else. */
function readEntries(path: string): readonly Entry[] {
  if (!exists(path)) return [];
  const text = readText(path, { maxBytes: MAX_JSON_BYTES });
  try {
    return fileSchema.parse(JSON.parse(text)).layouts;
  } catch {
    throw new UserError(`Cannot use ${path}: it holds no layouts`);
  }
}

/** The sentence of a UserError; what else goes wrong is thrown. */
function problemOf(error: unknown): string {
  if (error instanceof UserError) return error.message;
  throw error;
}

/**
 * Looks an adapter up.
 *
 * @param path The file.
 * @param adapter The adapter's description.
 */
export function readTuning(path: string, adapter: string): CachedTuning {
  try {
    const entry = readEntries(path).find((known) => isOf(known, adapter));
    return { tuning: entry && candidateOf(entry), problem: undefined };
  } catch (error) {
    return { tuning: undefined, problem: problemOf(error) };
  }
}

/**
 * Keeps the layout of an adapter beside those of others; a broken file starts over.
 *
 * @param path The file; its folder is made.
 * @param options.adapter The adapter's description.
 * @param options.tuning One of the layouts that may be chosen; undefined keeps none, and shows whether one could be kept.
 * @returns Why it could not be kept; undefined where it was.
 */
export function writeTuning(
  path: string,
  { adapter, tuning }: { readonly adapter: string; readonly tuning: Tuning | undefined },
): string | undefined {
  let others: readonly Entry[] = [];
  try {
    others = readEntries(path).filter((entry) => !isOf(entry, adapter));
  } catch (error) {
    problemOf(error);
  }
  const own = tuning && {
    ...keyOf(adapter),
    operand_memory: tuning.operandMemory,
    block_rows: tuning.blockRows,
    product_lanes: tuning.productLanes,
    decoder_lanes: tuning.decoderLanes,
    slot_count: tuning.slotCount,
  };
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    const layouts = own ? [...others, own] : others;
    writeFileAtomic(path, `${JSON.stringify({ layouts }, null, 2)}\n`);
    return undefined;
  } catch (error) {
    return problemOf(asUserError(error, `Cannot write ${path}`));
  }
}
