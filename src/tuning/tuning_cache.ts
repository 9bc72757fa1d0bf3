/** The layouts that were measured, one an adapter, in one small file. A file that cannot be used is not an error: defaults do. */
import { dirname } from "node:path";
import { z } from "zod";
import denoConfig from "../../deno.json" with { type: "json" };
import { UserError } from "../core/errors.ts";
import { isKnownTuning, type Tuning } from "../gpu/tuning.ts";
import { writeFileAtomic } from "../files/atomic_file.ts";
import { asUserError } from "../files/file_error.ts";
import { exists } from "../files/paths.ts";
import { MAX_JSON_BYTES, readText } from "../files/read_file.ts";

/** Of the file. Another version's layouts have other parts: they are left out, and the next measurement replaces them. */
const VERSION = 3;

const tuningSchema = z.object({
  operandMemory: z.enum(["texture", "buffer"]),
  blockRows: z.int(),
  blockColumns: z.int(),
  productLanes: z.int(),
  tiles: z.boolean(),
  weightOutputs: z.int(),
  weightColumns: z.int(),
  weightLanes: z.int(),
  rowLanes: z.int(),
  sumLanes: z.int(),
  flatLanes: z.int(),
  headsInRegisters: z.boolean(),
  stepLanes: z.int(),
  decoderLanes: z.int(),
  decoderRows: z.int(),
  decoderColumns: z.int(),
  transposedWeights: z.boolean(),
  groupSlots: z.int(),
  slotCount: z.int(),
}) satisfies z.ZodType<Tuning>;

const entrySchema = z.object({
  adapter: z.string(),
  os: z.string(),
  deno: z.string(),
  agentrl: z.string(),
  tuning: tuningSchema,
});

const fileSchema = z.object({ version: z.literal(VERSION), layouts: z.array(entrySchema) });
/** A file of another version: the first had none, and `layouts`. */
const otherSchema = z.object({ version: z.int().optional(), layouts: z.array(z.looseObject({})) })
  .refine(({ version }) => version !== VERSION);

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

/** @throws {UserError} When the file cannot be read or holds something else. */
function readEntries(path: string): readonly Entry[] {
  if (!exists(path)) return [];
  const text = readText(path, { maxBytes: MAX_JSON_BYTES });
  try {
    const json = JSON.parse(text);
    return otherSchema.safeParse(json).success ? [] : fileSchema.parse(json).layouts;
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
    // Only layouts that may be chosen: nothing else is tested.
    const tuning = entry && isKnownTuning(entry.tuning) ? entry.tuning : undefined;
    return { tuning, problem: undefined };
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
  const own = tuning && { ...keyOf(adapter), tuning };
  try {
    Deno.mkdirSync(dirname(path), { recursive: true });
    const layouts = own ? [...others, own] : others;
    writeFileAtomic(path, `${JSON.stringify({ version: VERSION, layouts }, null, 2)}\n`);
    return undefined;
  } catch (error) {
    return problemOf(asUserError(error, `Cannot write ${path}`));
  }
}
