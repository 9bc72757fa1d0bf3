/** What a run was started with: its config.json, and what a resumed start may ask otherwise. */
import { z } from "zod";
import denoConfig from "../../deno.json" with { type: "json" };
import { UserError } from "../core/errors.ts";
import { sentence, setting } from "../core/mention.ts";
import { requireSchema } from "../core/schema.ts";
import type { Arithmetic } from "../gpu/arithmetic.ts";
import type { Commands } from "../gpu/commands.ts";
import { FAULT_NAMES, type FaultName, faultyStages } from "../faults/faults.ts";
import { BASE_AGENTS, type BaseAgentName, RL_BASE_SEED } from "../rl/base_agent.ts";
import { type TrainingSetup, trainingSetup } from "../rl/setup.ts";
import { HEALTHY_STAGES } from "../rl/stages.ts";
import { type ConfigSources, parseConfig, resolveConfig, type TrainConfig } from "../rl/config.ts";
import type { EpisodeSource } from "../rollout/episode_source.ts";
import { type EnvironmentRecord, readEnvironmentRecord } from "./environment_record.ts";
import { checkpointSteps } from "./run_directory.ts";
import { readJson, writeJson } from "../files/json.ts";

/** The agent that a run starts from: one that is cloned for it, or the weights in a file. */
export type BaseSource =
  | { readonly kind: BaseAgentName | "cloned"; readonly seed: number }
  | { readonly file: string };

/** One start of a run: the first, or one that went on. */
export interface RunStart {
  /** When, in UTC: `2026-01-31T12:00:00.000Z`. */
  readonly time: string;
  /** The commit of agentrl's own checkout; null where it is not one. */
  readonly commit: string | null;
  /** The command line, as a shell takes it. */
  readonly command: string;
}

/** The content of config.json. */
export interface RunSettings {
  readonly config: TrainConfig;
  readonly base: BaseSource;
  /** The fault that its trainer has on purpose; null: none. */
  readonly bug: FaultName | null;
  /** The environment of a user's that it trains in; left out: the gym that ships. */
  readonly environment?: EnvironmentRecord;
  /** SHA-256 of the base agent's weights; null until it is made. */
  readonly baseHash: string | null;
  /** The adapter that computes the run; null until it is known. */
  readonly adapter: string | null;
  /** What that adapter makes of products and sums; left out: not known, as in runs of earlier versions. */
  readonly arithmetic?: Arithmetic;
  /** Its starts, in order. Nothing that is computed depends on them. */
  readonly starts: readonly RunStart[];
}

const BASE_KIND = /^(plain|rl|untrained|cloned)(?::(\d{1,9}))?$/;

/** True of a kind of base agent, with a seed or without: `rl`, `rl:3`. */
export function isBaseKind(text: string): boolean {
  return BASE_KIND.test(text);
}

const BASE_NAMES = [...Object.keys(BASE_AGENTS) as BaseAgentName[], "cloned"] as const;

/** Keys as they are in the file. The configuration is checked by its own schema. */
const settingsSchema = z.object({
  config: z.record(z.string(), z.unknown()),
  base: z.union([
    z.strictObject({ kind: z.enum(BASE_NAMES), seed: z.int().min(0) }),
    z.strictObject({ file: z.string().min(1) }),
  ]),
  bug: z.enum(FAULT_NAMES).nullable().default(null),
  environment: z.record(z.string(), z.unknown()).optional(),
  base_hash: z.string().nullable(),
  adapter: z.string().nullable(),
  // Runs of earlier versions do not say.
  arithmetic: z.object({
    fma_rounds: z.enum(["once", "twice", "unknown"]).describe(
      "how often fma(a, b, c) rounds: once is a fused one",
    ),
    contracts_products: z.boolean().describe(
      "whether a product may be added without being rounded",
    ),
    reassociates_sums: z.boolean().describe("whether sums may be made in another order"),
    cancels_terms: z.boolean().describe("whether (a + b) - a is taken for b"),
  }).optional().describe("what the adapter makes of products and sums"),
  // Runs of earlier versions have none.
  starts: z.array(
    z.object({ time: z.string(), commit: z.string().nullable(), command: z.string() }),
  ).default([]),
});

/** An environment as its agents are chosen. */
export interface UsedEnvironment {
  readonly name: string;
  /** Whether an agent can be cloned from it. */
  readonly hasDemonstrations: boolean;
}

/** Agents of the gym speak its words and no others; only environments have agents that are cloned from themselves. */
function requireKind(kind: string, environment: UsedEnvironment | undefined): void {
  if (environment === undefined) {
    if (kind !== "cloned") return;
    throw new UserError(
      sentence`${setting("base", kind)} is an agent of an environment of your own, which ${
        setting("env")
      } names; agents of the gym are plain, rl and untrained`,
    );
  }
  const { name, hasDemonstrations } = environment;
  if (kind === "cloned" && !hasDemonstrations) {
    throw new UserError(
      sentence`${
        setting("base", kind)
      } needs demonstrations, and the environment ${name} has none; start from ${
        setting("base", "untrained")
      }`,
    );
  }
  if (kind === "cloned" || kind === "untrained") return;
  throw new UserError(
    sentence`${
      setting("base", kind)
    } is an agent of the gym; in the environment ${name} an agent is cloned, untrained, or a file`,
  );
}

/**
 * The agent that a run starts from.
 *
 * @param text A kind (`plain`), a kind and its seed (`rl:3`), or a file; undefined: the kind that suits the preset.
 * @param config The run's preset or environment decides the kind, and its seed is that of other agents than `rl`.
 * @returns Where the weights come from.
 * @throws {UserError} When the kind is one of the gym's and there is an environment, or the other way round.
 */
export function baseSource(
  text: string | undefined,
  config: Pick<TrainConfig, "preset" | "seed"> & { readonly environment?: UsedEnvironment },
): BaseSource {
  const { preset, environment } = config;
  const suited = environment === undefined
    ? preset === "rl" ? "rl" : "plain"
    : environment.hasDemonstrations
    ? "cloned"
    : "untrained";
  const [, kind, seed] = BASE_KIND.exec(text ?? suited) ?? [];
  if (kind === undefined) return { file: text ?? "" };
  requireKind(kind, environment);
  const ownSeed = kind === "rl" ? RL_BASE_SEED : config.seed;
  return { kind: kind as BaseAgentName, seed: seed === undefined ? ownSeed : Number(seed) };
}

/** A base agent's name for people: `plain:0`, or the file. */
export function baseName(base: BaseSource): string {
  return "file" in base ? base.file : `${base.kind}:${base.seed}`;
}

/** What a run trains with. @param source Where its episodes come from (default the gym that ships). */
export function setupOf(
  commands: Commands,
  { config, bug }: Pick<RunSettings, "config" | "bug">,
  source?: EpisodeSource,
): TrainingSetup {
  return trainingSetup(commands, {
    config,
    source,
    stages: bug === null ? HEALTHY_STAGES : faultyStages(bug),
  });
}

/**
 * Writes config.json, whole or not at all.
 *
 * @param path The file.
 * @param settings Its content.
 * @throws {UserError} When it cannot be written.
 */
export function writeSettings(path: string, settings: RunSettings): void {
  const { config, base, bug, environment, baseHash, adapter, arithmetic, starts } = settings;
  writeJson(path, {
    versions: { agentrl: denoConfig.version, deno: Deno.version.deno },
    adapter,
    ...(arithmetic && {
      arithmetic: {
        fma_rounds: arithmetic.fmaRounds,
        contracts_products: arithmetic.contractsProducts,
        reassociates_sums: arithmetic.reassociatesSums,
        cancels_terms: arithmetic.cancelsTerms,
      },
    }),
    base,
    bug,
    ...(environment && { environment }),
    base_hash: baseHash,
    starts,
    config,
  });
}

/**
 * Reads config.json.
 *
 * @param path The file.
 * @returns Its content, checked.
 * @throws {UserError} When it cannot be read, or holds something else.
 */
export function readSettings(path: string): RunSettings {
  const { config, environment: recorded, base_hash: baseHash, arithmetic, ...rest } = requireSchema(
    readJson(path),
    settingsSchema,
    { source: path },
  );
  const environment = recorded && readEnvironmentRecord(recorded, { source: path });
  return {
    ...rest,
    config: parseConfig(config, { source: path, environment }),
    ...(environment && { environment }),
    baseHash,
    ...(arithmetic && {
      arithmetic: {
        fmaRounds: arithmetic.fma_rounds,
        contractsProducts: arithmetic.contracts_products,
        reassociatesSums: arithmetic.reassociates_sums,
        cancelsTerms: arithmetic.cancels_terms,
      },
    }),
  };
}

/**
 * The settings of a run that continues: its own, with more steps where they are asked for.
 *
 * @param stored What the run was started with.
 * @param asked What this start asks for; keys that it leaves out are the run's.
 * @param asked.base As `--base` gives it.
 * @param asked.path The run's folder, for error sentences.
 * @returns The settings to continue with.
 * @throws {UserError} When another value than the run's is asked for anything but `steps`, or fewer steps than are done.
 */
export function resumeSettings(
  stored: RunSettings,
  asked: {
    readonly sources: Omit<ConfigSources, "stored">;
    readonly base: string | undefined;
    readonly bug: FaultName | undefined;
    readonly path: string;
  },
): RunSettings {
  const { sources, base, bug, path } = asked;
  const { environment } = stored;
  const config = resolveConfig({ ...sources, stored: stored.config, environment });
  const other = (Object.keys(config) as (keyof TrainConfig)[]).find((key) =>
    key !== "steps" && JSON.stringify(config[key]) !== JSON.stringify(stored.config[key])
  );
  if (other !== undefined) {
    throw new UserError(
      `Cannot resume ${path}: ${other} is ${
        JSON.stringify(stored.config[other])
      } in this run, but ` +
        `${JSON.stringify(config[other])} is asked for; leave it out, or start another run`,
    );
  }
  const stepsDone = checkpointSteps(path).at(-1) ?? 0;
  if (config.steps < stepsDone) {
    throw new UserError(
      `Cannot resume ${path} to ${config.steps} steps: it has already done ${stepsDone}`,
    );
  }
  const ownBase = baseName(stored.base);
  const used = environment && {
    environment: { name: environment.name, hasDemonstrations: ownBase.startsWith("cloned") },
  };
  if (base !== undefined && baseName(baseSource(base, { ...config, ...used })) !== ownBase) {
    throw new UserError(
      `Cannot resume ${path}: it began with the base agent ${ownBase}, but ${base} is asked for; leave it out`,
    );
  }
  if (bug !== undefined && bug !== stored.bug) {
    throw new UserError(
      `Cannot resume ${path}: it runs ${
        stored.bug === null ? "without a fault" : `with the fault ${stored.bug}`
      }, but ${bug} is asked for; leave it out`,
    );
  }
  return { ...stored, config };
}
