/** Ranks the causes that fired rules name, each with how much it is to be believed in a world of more causes than are known. */
import {
  checkEvidence,
  type Evidence,
  type RecordedCheck,
  type TestedRun,
  verdictOn,
  violatedChecks,
} from "./evaluate.ts";
import { invariantKey } from "../invariant_list.ts";
import type { CauseRecord, TriageKnowledge, TriageRule } from "./knowledge.ts";
import { judgeNeeds } from "./needs.ts";
import { type NextStep, nextStep } from "./next_step.ts";

/** A rule that fired. */
export interface FiredRule {
  readonly rule: TriageRule;
  readonly evidence: readonly Evidence[];
  /** False where nobody tells whether the run is what the rule needs. */
  readonly isTold: boolean;
}

/** A suspect with what speaks for it. */
export interface Cause {
  /** Its name in the knowledge. */
  readonly fault: string;
  /** Belief, 0 to 1: {@linkcode rankCauses} says how it is made. */
  readonly score: number;
  /** The tests that fired. */
  readonly evidence: readonly Evidence[];
  /** What to do next. */
  readonly next: NextStep;
}

/** Causes and what they leave open. */
export interface RankedCauses {
  /** Likeliest first. */
  readonly causes: readonly Cause[];
  /** The belief that the cause is none of them: 1 minus theirs. */
  readonly unknown: number;
  /** The violated invariants, where no cause explains all of them; else empty. */
  readonly unexplained: readonly RecordedCheck[];
}

/** What is left of a belief where nobody tells whether the run is what the rule needs: as likely as not. */
const UNTOLD = 0.5;

/** True where an invariant that the cause cannot pass holds, or the run is not one that can have it. */
function isRuledOut({ ruledOutBy, needs }: CauseRecord, run: TestedRun): boolean {
  if (judgeNeeds(needs, run).unmet.length > 0) return true;
  return ruledOutBy.some((clearing) => {
    const [key, where] = typeof clearing === "string"
      ? [clearing, undefined] as const
      : [clearing.check, clearing.where] as const;
    const { unmet, untold } = judgeNeeds(where, run);
    return unmet.length + untold.length === 0 && verdictOn(key, run)?.verdict === "holds";
  });
}

function explains({ ruledOutBy, explains = [] }: CauseRecord, { id }: RecordedCheck): boolean {
  const own = ruledOutBy.map((clearing) =>
    typeof clearing === "string" ? clearing : clearing.check
  );
  return [...own, ...explains].includes(invariantKey(id));
}

function recordOf(fault: string, { causes }: TriageKnowledge): CauseRecord {
  const record = Object.hasOwn(causes, fault) ? causes[fault] : undefined;
  if (record) return record;
  throw new RangeError(`A rule names the cause ${fault}, of which the knowledge has no record`);
}

/** What speaks for a cause: the tests of its rules, then the other violated invariants that it explains. */
function evidenceFor(
  record: CauseRecord,
  speaking: readonly FiredRule[],
  violated: readonly RecordedCheck[],
): Evidence[] {
  const own = speaking.flatMap(({ evidence }) => evidence);
  const further = violated.filter((check) => explains(record, check)).map(checkEvidence)
    .filter(({ metric }) => !own.some((evidence) => evidence.metric === metric));
  return [...own, ...further.map((evidence) => ({ ...evidence, symptom: FOLLOWS }))];
}

const FOLLOWS = "further invariants are violated, as they are with this failure";

interface Candidate extends Omit<Cause, "score"> {
  readonly share: number;
}

/**
 * Ranks causes. Symptoms of one fault are not independent of each other, least of all where the fault is none that is known:
 * a cause is believed as its strongest symptom makes it believed, and further ones add evidence, not belief. Of several causes
 * the strongest takes its share, and each weaker one its share of what is left; what is left in the end is the belief in a
 * cause that is not known.
 *
 * @param fired The rules that fired, in their order: among equals the one that was cheaper to see stays first.
 * @param run The run, with its folder where there is one to look into.
 * @param knowledge What is known of causes.
 * @throws {RangeError} When a rule names a cause of which the knowledge has no record.
 */
export function rankCauses(
  fired: readonly FiredRule[],
  run: TestedRun & { readonly runFolder?: string | undefined },
  knowledge: TriageKnowledge,
): RankedCauses {
  const { runFolder, metrics: { lastStep } } = run;
  const folder = runFolder === undefined ? undefined : { folder: runFolder, steps: lastStep + 1 };
  const violated = violatedChecks(run);
  const names = [...new Set(fired.flatMap(({ rule }) => Object.keys(rule.causes)))];
  const candidates = names.flatMap((fault): Candidate[] => {
    const record = recordOf(fault, knowledge);
    // One that leaves a violated invariant unexplained would need a second fault beside it.
    if (!violated.every((check) => explains(record, check)) || isRuledOut(record, run)) return [];
    const speaking = fired.filter(({ rule }) => rule.causes[fault] !== undefined);
    const isTold = judgeNeeds(record.needs, run).untold.length === 0;
    const shares = speaking.map((one) =>
      (one.rule.causes[fault] ?? 0) * (one.isTold && isTold ? 1 : UNTOLD)
    );
    return [{
      fault,
      share: Math.max(...shares),
      evidence: evidenceFor(record, speaking, violated),
      next: nextStep(record.advice, { fault, kind: record.kind, run: folder }),
    }];
  });
  let open = 1;
  const causes = candidates.sort((a, b) => b.share - a.share).map((candidate): Cause => {
    const { fault, share, evidence, next } = candidate;
    const score = share * open;
    open -= score;
    return { fault, score, evidence, next };
  });
  return { causes, unknown: open, unexplained: causes.length === 0 ? violated : [] };
}
