/** Judges what another trainer left at a path, for programs: its log, or its token dump. */
import { sayFinding } from "../diagnose/finding.ts";
import { judgeLog } from "../diagnose/findings/judge_log.ts";
import { judgeTokens } from "../diagnose/tokens/judge_tokens.ts";
import { interpret } from "../producers/interpret.ts";
import { readRunLog } from "./log_source.ts";
import { readTokens } from "./token_source.ts";

/** What a user knows of a run and its log or dump does not tell. */
export interface JudgeSettings {
  /** Precision of the engine that sampled (default bf16 where it matters). */
  readonly sampler?: "bf16" | "fp8" | "f32";
  /** Completions per prompt. */
  readonly groupSize?: number;
  /** Optimizer steps on one batch of rollouts. */
  readonly updatesPerBatch?: number;
  /** Coefficient of the KL to the reference; 0: none. */
  readonly klCoef?: number;
  /** The cap on a completion, in tokens. */
  readonly maxLength?: number;
  /** Steps planned for the run. */
  readonly plannedSteps?: number;
  /** Steps from one row to the next, of a console log that prints no steps. */
  readonly loggingSteps?: number;
}

/** One thing that is said. Keys that do not apply are left out. */
export interface Said {
  /** Stable, for example `answers_cut`. */
  readonly id: string;
  /** The gravest first; docs/triage.md says what each means. */
  readonly class:
    | "violated"
    | "suspect"
    | "expected"
    | "note"
    | "holds"
    | "not-checkable"
    | "not-applicable";
  /** With the numbers, in the words and keys of the user's framework. */
  readonly sentence: string;
  /** The key in the user's file. */
  readonly key?: string;
  /** The step that it speaks of, in the unit of the file. */
  readonly step?: number;
  /** What was found there; null where it is NaN or infinite. */
  readonly value?: number | null;
  /** What it was compared with. */
  readonly bound?: number;
  /** Where the bound comes from. */
  readonly boundFrom?: string;
  /** What else explains it, most likely first. */
  readonly alternatives?: readonly string[];
  /** What to do next. */
  readonly next?: string;
  /** Ids of findings that follow from it. */
  readonly explains?: readonly string[];
  /** The file, the row from 1, the sample, and the token from 0, as far as they are known. */
  readonly at?: {
    readonly file: string;
    readonly row?: number;
    readonly sample?: string;
    readonly token?: number;
  };
}

/**
 * Reads the log of any trainer and says what is wrong with the run.
 *
 * @param path A file, or a folder in which a log lies: what `agentrl formats` lists.
 * @param settings What the log does not tell.
 * @returns Findings, the gravest first and causes before what follows from them; next steps are plain sentences.
 * @throws {UserError} When there is no log, or none that can be read.
 * @example
 * ```ts ignore
 * import { judgeLogAt } from "agentrl/report";
 * for (const { id, class: kind, sentence } of await judgeLogAt("outputs/grpo")) console.log(kind, id, sentence);
 * ```
 */
export async function judgeLogAt(
  path: string,
  settings: JudgeSettings = {},
): Promise<readonly Said[]> {
  const view = interpret(await readRunLog(path, { settings }), { settings });
  return judgeLog(view).map((finding) => sayFinding(finding));
}

/**
 * Reads a token dump of any trainer and says what is wrong with its tokens.
 *
 * @param path A file, or a folder in which dumps lie.
 * @param settings What the dump does not tell.
 * @returns Findings as of {@linkcode judgeLogAt}; `at` is the file, row, sample and token.
 * @throws {UserError} When there is no dump, or it is damaged.
 * @example
 * ```ts ignore
 * import { judgeTokensAt } from "agentrl/report";
 * const findings = await judgeTokensAt("my_project/tokens", { sampler: "bf16" });
 * if (findings.some(({ class: kind }) => kind === "violated")) Deno.exit(1);
 * ```
 */
export async function judgeTokensAt(
  path: string,
  settings: JudgeSettings = {},
): Promise<readonly Said[]> {
  const findings = await judgeTokens(await readTokens(path), settings);
  return findings.map((finding) => sayFinding(finding));
}
