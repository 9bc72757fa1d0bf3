/** Running experiments one after the other: each writes its file when it is done, and what is there already is not run again. */
import { z } from "zod";
import { UserError } from "../core/errors.ts";
import { suggestName } from "../core/nearest.ts";
import type { Commands } from "../gpu/commands.ts";
import { asUserError } from "../files/file_error.ts";
import { readJson, writeJson } from "../files/json.ts";
import {
  createLabContext,
  type Experiment,
  type LabContext,
  type LabResult,
} from "./experiment.ts";

/** What a result depends on besides the machine's speed. Where it is equal, a finished experiment is not run again. */
export interface LabIdentity {
  readonly seed: number;
  /** True: smaller sizes; its verdicts are a first look. */
  readonly quick: boolean;
  /** Version of agentrl. */
  readonly version: string;
  /** The adapter's description. */
  readonly adapter: string;
}

/** An experiment's file: what it is, what it depends on, and its result. */
export interface LabRecord extends LabIdentity, LabResult {
  readonly experiment: string;
  readonly title: string;
  readonly shows: string;
  /** null: as in the tutorial. */
  readonly variant: string | null;
  readonly tutorial: Readonly<Record<string, unknown>>;
  readonly durationMs: number;
}

const cell = z.union([z.number(), z.string(), z.null()]);

/** What a file must hold to be taken for a finished experiment. Numbers that are not finite are null in JSON. */
const recordSchema = z.object({
  experiment: z.string(),
  title: z.string(),
  shows: z.string(),
  variant: z.string().nullable(),
  seed: z.number(),
  quick: z.boolean(),
  version: z.string(),
  adapter: z.string(),
  durationMs: z.number(),
  tutorial: z.record(z.string(), z.unknown()),
  tables: z.array(z.object({
    title: z.string(),
    columns: z.array(z.string()),
    rows: z.array(z.array(cell)),
  })),
  figures: z.array(z.object({
    title: z.string(),
    xLabel: z.string(),
    yLabel: z.string(),
    series: z.array(z.object({
      name: z.string(),
      style: z.enum(["line", "points"]),
      points: z.array(z.tuple([z.number(), z.number()])),
    })),
  })),
  checks: z.array(z.object({
    requirement: z.string(),
    value: cell,
    holds: z.boolean(),
  })),
  data: z.record(z.string(), z.unknown()),
}) satisfies z.ZodType<LabRecord>;

/** Where a lab stands, for its one display of progress. */
export interface LabProgress {
  /** Share of the lab's work that is done, 0 to 1. */
  readonly share: number;
  /** The experiment that runs. */
  readonly name: string;
  /** What it does, in a few words. */
  readonly note: string;
  /** Names of those that follow. */
  readonly remaining: readonly string[];
}

/** What a lab is made of. */
export interface LabOptions {
  readonly experiments: readonly Experiment[];
  /** The device's recorder. */
  readonly commands: Commands;
  readonly identity: LabIdentity;
  /** A variant that all of the experiments have; undefined: as in the tutorial. */
  readonly variant: string | undefined;
  /** The folder of the files; it is made where it is missing. */
  readonly out: string;
  /** True: experiments run also where their file is there. */
  readonly fresh: boolean;
  readonly onProgress: (progress: LabProgress) => void;
  /** Called with every record, also with those that were there already. */
  readonly onRecord: (record: LabRecord, isNew: boolean) => void;
}

/**
 * The experiments of a lab.
 *
 * @param all Every experiment.
 * @param names Those that are asked for; none: all, or all that have the variant.
 * @param variant A variant that each of them must have.
 * @returns The experiments, in the order of `all`.
 * @throws {UserError} When a name is unknown, or an experiment has no such variant.
 */
export function selectExperiments(
  all: readonly Experiment[],
  names: readonly string[],
  variant: string | undefined,
): Experiment[] {
  const known = all.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new UserError(`unknown experiment "${unknown}": ${suggestName(unknown, known)}`);
  }
  const has = ({ variants }: Experiment) =>
    variant === undefined || Object.hasOwn(variants, variant);
  const named = all.filter(({ name }) => names.length === 0 || names.includes(name));
  const chosen = named.filter(has);
  const lacking = named.find((experiment) => !has(experiment));
  if (chosen.length === 0 || (names.length > 0 && lacking !== undefined)) {
    const variants = named.flatMap((experiment) => Object.keys(experiment.variants));
    const where = names.length === 0 ? "no experiment has a" : `${lacking?.name} has no`;
    const hint = variants.length === 0
      ? "it has no variants"
      : suggestName(variant ?? "", variants);
    throw new UserError(`${where} variant "${variant}": ${hint}`);
  }
  return chosen;
}

/** The path of an experiment's file. */
export function labPath(out: string, name: string, variant: string | undefined): string {
  return `${out}/${variant === undefined ? name : `${name}.${variant}`}.json`;
}

/**
 * A finished experiment's record.
 * @returns undefined where the file is missing or holds none: then it is run.
 */
export function readLabRecord(path: string): LabRecord | undefined {
  try {
    return recordSchema.safeParse(readJson(path)).data;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function isSame(record: LabRecord, identity: LabIdentity): boolean {
  return record.seed === identity.seed && record.quick === identity.quick &&
    record.version === identity.version && record.adapter === identity.adapter;
}

function makeFolder(path: string): void {
  try {
    Deno.mkdirSync(path, { recursive: true });
  } catch (error) {
    throw asUserError(error, `Cannot write to ${path}`);
  }
}

/**
 * Runs experiments, each on what the ones before it have made. A lab that is stopped keeps the files of finished experiments;
 * started again with the same identity it goes on with the missing ones.
 *
 * @returns A record an experiment, in their order.
 * @throws {UserError} When the folder cannot be written.
 * @throws {DeviceLostError} When the device is gone.
 */
export async function runLab(options: LabOptions): Promise<LabRecord[]> {
  const { experiments, commands, identity, variant, out, fresh, onProgress, onRecord } = options;
  makeFolder(out);
  const records: LabRecord[] = [];
  const costOf = (part: readonly Experiment[]) =>
    part.reduce((sum, { costSeconds }) => sum + costSeconds, 0);
  let show: LabContext["progress"] = () => {};
  const context = createLabContext(commands, {
    ...identity,
    variant,
    progress: (note, share) => show(note, share),
  });
  for (const [done, experiment] of experiments.entries()) {
    const { name, title, shows, tutorial } = experiment;
    const path = labPath(out, name, variant);
    const known = fresh ? undefined : readLabRecord(path);
    if (known !== undefined && isSame(known, identity)) {
      records.push(known);
      onRecord(known, false);
      continue;
    }
    const remaining = experiments.slice(done + 1).map((next) => next.name);
    const before = costOf(experiments.slice(0, done));
    show = (note, share = 0) =>
      onProgress({
        share: (before + share * experiment.costSeconds) / costOf(experiments),
        name,
        note,
        remaining,
      });
    show("");
    const startMs = performance.now();
    const result = await experiment.run(context);
    const record: LabRecord = {
      experiment: name,
      title,
      shows,
      variant: variant ?? null,
      ...identity,
      durationMs: Math.round(performance.now() - startMs),
      tutorial,
      ...result,
    };
    writeJson(path, record);
    records.push(record);
    onRecord(record, true);
  }
  return records;
}
