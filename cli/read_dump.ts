/** Reads and judges token dumps of any trainer, for the commands about them, and says what was read. */
import { type SaidFinding, sayFinding } from "../src/diagnose/finding.ts";
import { say } from "../src/diagnose/findings/curve.ts";
import { firstToAct } from "../src/diagnose/findings/order.ts";
import { judgeTokens, type TokenSettings } from "../src/diagnose/tokens/judge_tokens.ts";
import { readTokens, type ReadTokensOptions } from "../src/files/token_source.ts";
import { producerTitle } from "../src/producers/producers.ts";
import type { TokenSource } from "../src/tokens/token_batch.ts";
import { counted, type TokenCounts } from "../src/tokens/token_counts.ts";
import {
  describeIgnored,
  type Layout,
  readPath,
  sourceLine,
  type Subject,
} from "./findings_text.ts";
import { COMMAND_WORDS } from "./next_command.ts";
import { withReadProgress } from "./read_log.ts";

/** A dump, judged. */
export interface JudgedDump {
  readonly source: TokenSource;
  readonly counts: TokenCounts;
  readonly findings: readonly SaidFinding[];
}

/** What flags say of a dump that it does not tell itself. */
export interface DumpFlags {
  readonly sampler?: TokenSettings["sampler"] | undefined;
  readonly groupSize?: number | undefined;
}

/** The settings that flags give. */
export function tokenSettings({ sampler, groupSize }: DumpFlags): TokenSettings {
  return {
    ...(sampler !== undefined && { sampler }),
    ...(groupSize !== undefined && { groupSize }),
  };
}

/**
 * Reads a dump and judges it.
 *
 * @param path A file, a folder in which dumps lie, or `-`.
 * @param options.opened Standard input, where it is open already.
 * @throws {UserError} When there is no dump, or it is damaged.
 */
export async function judgeDump(
  path: string,
  flags: DumpFlags,
  { opened }: Pick<ReadTokensOptions, "opened"> = {},
): Promise<JudgedDump> {
  return await withReadProgress(async (onProgress) => {
    const { batch, counts } = counted(await readTokens(path, { onProgress, opened }));
    const findings = await judgeTokens(batch, tokenSettings(flags));
    return {
      source: batch.source,
      counts: counts(),
      findings: findings.map((finding) => sayFinding(finding, COMMAND_WORDS)),
    };
  });
}

/** What a dump is and holds, as a document. */
export function dumpSourceDocument({ source, counts }: JudgedDump) {
  const { path, form, files, producer, ignored } = source;
  const { sequences, tokens, trained, steps } = counts;
  return {
    path,
    form,
    files,
    producer: producer ?? null,
    sequences,
    tokens,
    trained: trained ?? null,
    firstStep: steps?.[0] ?? null,
    lastStep: steps?.[1] ?? null,
    ignored,
  };
}

/** A dump and what is said about it, as a document. */
export function dumpDocument(dump: JudgedDump) {
  const { findings } = dump;
  return { source: dumpSourceDocument(dump), first: firstToAct(findings)?.id ?? null, findings };
}

function amount(count: number, word: string): string {
  return `${say(count)} ${word}${count === 1 ? "" : "s"}`;
}

function stepsText(steps: TokenCounts["steps"]): string {
  if (steps === undefined) return "steps not told";
  return steps[0] === steps[1] ? `step ${say(steps[0])}` : `steps ${steps.map(say).join(" to ")}`;
}

/** A dump as the subject of findings. */
export function dumpSubject({ source, counts }: JudgedDump, layout: Layout): Subject {
  const { form, producer, ignored } = source;
  const { sequences, tokens, trained, steps } = counts;
  const known = [
    form,
    ...(producer === undefined ? [] : [producerTitle(producer)]),
    amount(sequences, "sequence"),
    `${amount(tokens, "token")}${trained === undefined ? "" : ` (${say(trained)} trained)`}`,
    stepsText(steps),
  ];
  return {
    source: [sourceLine(readPath(source), known.join(", "), layout)],
    name: "this dump",
    nothingToDo: "First: nothing to do. No check found a fault in the tokens of this dump.",
    rest: layout.all ? describeIgnored(ignored, layout) : [],
  };
}

/** A log and the dump beside it as one subject. */
export function bothSubjects(log: Subject, dump: Subject): Subject {
  return {
    source: [...log.source, ...dump.source],
    name: "this log and this dump",
    nothingToDo: `${log.nothingToDo} No check found a fault in the tokens of the dump.`,
    rest: [...log.rest, ...dump.rest],
  };
}
