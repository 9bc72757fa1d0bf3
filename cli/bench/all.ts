/** `agentrl bench all`: every suite in one sitting, with what the adapter is and which layout is fastest on it. */
import denoConfig from "../../deno.json" with { type: "json" };
import type { AllDocument } from "../../src/bench/documents.ts";
import { UserError } from "../../src/core/errors.ts";
import { oneSentence } from "../../src/core/sentence.ts";
import { remark } from "../../src/files/terminal.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { requireTrustedGpu } from "../../src/gpu/self_test.ts";
import type { Tuning } from "../../src/gpu/tuning.ts";
import type { Outcome } from "../command.ts";
import { adapterFacts, adapterText } from "../adapter_facts.ts";
import { openFlaggedGpu } from "../gpu.ts";
import { openLayout } from "../gpu_layout.ts";
import { type LayoutChoice, measureLayouts } from "../tuning.ts";
import { tuningDocument, tuningText } from "../tuning_text.ts";
import { say } from "../words.ts";
import { type BenchFlags, machineFacts } from "./facts.ts";
import type { Suite } from "./suites.ts";

/** Rounds on a software adapter, where a round of all suites takes more than a minute. */
const SOFTWARE_ROUNDS = 2;
/** Tokens that are scored under a model of real size on a software adapter. */
const SHORT_TOKENS = 64;
/** Rounds of each comparison of layouts. */
const TUNING_ROUNDS = 3;

/** The flags of `bench all`. */
export interface AllFlags extends BenchFlags {
  readonly requireGpu: boolean;
  /** Searches the layout on a software adapter, too. */
  readonly tune: boolean;
}

/** A suite's result, or why there is none. */
interface SuiteResult {
  readonly suite: string;
  readonly durationMs: number;
  readonly outcome: Outcome | undefined;
  readonly problem: string | undefined;
}

/** What went wrong in a sentence; drivers write lines. */
function sentenceOf(error: unknown): string {
  const message = error instanceof UserError
    ? say(error.sentence)
    : error instanceof Error
    ? error.message
    : String(error);
  return oneSentence(message.replaceAll(/\s+/g, " "));
}

/** Runs a suite on a device of its own, so that nothing of one is left for the next. */
async function runSuite(
  suite: string,
  options: { readonly run: Suite; readonly flags: AllFlags; readonly tuning: Tuning },
): Promise<SuiteResult> {
  const { run, flags, tuning } = options;
  const startMs = performance.now();
  const result = (rest: Pick<SuiteResult, "outcome" | "problem">): SuiteResult => ({
    suite,
    durationMs: performance.now() - startMs,
    ...rest,
  });
  try {
    const gpu = await openLayout(flags, { tuning });
    try {
      await requireTrustedGpu(gpu);
      const outcome = await run(new Commands(gpu), flags);
      return result({ outcome, problem: undefined });
    } finally {
      gpu.device.destroy();
    }
  } catch (error) {
    const problem = sentenceOf(error);
    remark(`bench all: ${suite} could not be measured: ${problem}\n`);
    return result({ outcome: undefined, problem });
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`;
}

function headed(title: string, lines: readonly string[]): string[] {
  return ["", title, "=".repeat(title.length), "", ...lines];
}

function suiteLines({ suite, durationMs, outcome, problem }: SuiteResult): string[] {
  const lines = outcome ? outcome.text.split("\n") : [`could not be measured: ${problem}`];
  return headed(`bench ${suite} (${seconds(durationMs)})`, lines);
}

/**
 * Runs every suite. One that fails leaves its sentence, and the others go on.
 *
 * @param suites What is measured, in order.
 * @throws {UserError} When there is no adapter, or one that fails the self-test.
 */
export async function benchAll(
  suites: Readonly<Record<string, Suite>>,
  flags: AllFlags,
): Promise<Outcome> {
  const startMs = performance.now();
  const measuredAt = new Date().toISOString();
  const opened = await openFlaggedGpu(flags);
  const { gpu } = opened;
  const { adapter: { description: adapter, isSoftware } } = gpu;
  await requireTrustedGpu(gpu);
  const facts = await adapterFacts(opened);
  const machine = machineFacts(gpu);
  gpu.device.destroy();
  let choice: LayoutChoice | undefined;
  if (!isSoftware || flags.tune) {
    choice = await measureLayouts(flags, { adapter, isSoftware, rounds: TUNING_ROUNDS });
  }
  const tuning = choice?.tuning ?? gpu.tuning;
  const rounds = isSoftware ? Math.min(SOFTWARE_ROUNDS, flags.rounds) : flags.rounds;
  const results: SuiteResult[] = [];
  for (const [suite, run] of Object.entries(suites)) {
    remark(`bench all: ${suite}, ${results.length + 1} of ${Object.keys(suites).length}\n`);
    const tokens = isSoftware ? Math.min(SHORT_TOKENS, flags.tokens) : flags.tokens;
    const short = { ...flags, rounds, tokens, isShort: isSoftware };
    results.push(await runSuite(suite, { run, flags: short, tuning }));
  }
  const durationMs = performance.now() - startMs;
  const document: AllDocument = {
    bench: "all",
    agentrl: denoConfig.version,
    measuredAt,
    durationMs,
    ...machine,
    info: { ...facts, tuning: { ...facts.tuning } },
    tuning: choice ? tuningDocument(choice) : null,
    suites: results.map(({ suite, durationMs, outcome, problem }) => ({
      suite,
      durationMs,
      document: outcome?.document ?? null,
      problem: problem ?? null,
    })),
  };
  const text = [
    ...adapterText(opened, facts),
    ...(choice ? headed("Layout of the kernels", tuningText(choice)) : []),
    ...results.flatMap(suiteLines),
    "",
    `All suites took ${seconds(durationMs)}.`,
  ];
  return {
    document,
    text: text.join("\n"),
    emphasis: [
      { pattern: /^could not be measured\b/gm, style: "red" },
      ...results.flatMap(({ outcome }) => outcome?.emphasis ?? []),
    ],
    exitCode: results.every(({ problem }) => problem === undefined) ? 0 : 1,
  };
}
