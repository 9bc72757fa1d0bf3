/** Makes a recording: what a session answers when all steps are asked for, small enough to stand in a page. */
import type { FindingClass } from "../diagnose/finding.ts";
import type { Commands } from "../gpu/commands.ts";
import type { TrainConfig } from "../rl/config_keys.ts";
import type { Answer, LiveAdapter, LiveSettings, Recording, RunName } from "./messages.ts";
import { openSession, type Session } from "./session.ts";

/** What is recorded. */
export interface RecordOptions {
  /** The device; it stays the caller's. */
  readonly commands: Commands;
  /** The bytes of the base agent's checkpoint. */
  readonly base: Uint8Array<ArrayBuffer>;
  readonly settings: LiveSettings;
  /** Settings of both runs beside those of the catalogue. */
  readonly config?: Partial<TrainConfig> | undefined;
  /** Called after each step of a run. */
  readonly onStep?: () => void;
}

/** Digits that are kept of a number that is not whole. */
const DIGITS = 5;

/** Findings that say again, in every step, what was checked before the first one. */
const REPEATED: readonly FindingClass[] = ["holds", "not-applicable"];

/** JSON values with rounded numbers. */
function rounded<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(
      value,
      (_, inner) =>
        typeof inner === "number" && !Number.isInteger(inner)
          ? Number(inner.toPrecision(DIGITS))
          : inner,
    ),
  );
}

/** Without the findings that say nothing new. */
function shortened(answer: Answer): Answer {
  if (answer.kind !== "triaged") return answer;
  const findings = answer.findings.filter((finding) => !REPEATED.includes(finding.class));
  return { ...answer, findings };
}

/** Takes answers down, without those that a replay has no use for. */
class Recorder {
  readonly answers: { readonly ms: number; readonly answer: Answer }[] = [];
  adapter: LiveAdapter | undefined;
  #beginMs: number | undefined;
  readonly #lastTriaged = new Map<RunName, string>();

  /** From now on milliseconds count. */
  begin(): void {
    this.#beginMs = performance.now();
  }

  take(answer: Answer): void {
    if (answer.kind === "opened") this.adapter = answer.adapter;
    if (["opened", "progress", "paused", "file", "failed"].includes(answer.kind)) return;
    const kept = rounded(shortened(answer));
    if (kept.kind === "triaged") {
      const text = JSON.stringify(kept);
      if (this.#lastTriaged.get(kept.run) === text) return;
      this.#lastTriaged.set(kept.run, text);
    }
    const sinceMs = this.#beginMs === undefined ? 0 : performance.now() - this.#beginMs;
    this.answers.push({ ms: Math.round(sinceMs), answer: kept });
  }
}

/**
 * Lets a session make all steps of both runs, and writes down what it says.
 *
 * @throws {Error} When the session fails, with its sentence.
 */
export async function recordSession(options: RecordOptions): Promise<Recording> {
  const { commands, base, settings, config, onStep } = options;
  const recorder = new Recorder();
  const ended = Promise.withResolvers<void>();
  const goOn = (session: Session, answer: Answer) => {
    recorder.take(answer);
    if (answer.kind === "failed") ended.reject(new Error(answer.sentence));
    if (answer.kind === "ended") ended.resolve();
    if (answer.kind === "ready") session.send({ kind: "step", steps: "all" });
    if (answer.kind === "stepped") onStep?.();
    if (answer.kind !== "played") return;
    recorder.begin();
    session.send({ kind: "begin", settings });
  };
  const session: Session = openSession({
    base,
    config,
    openCommands: () => Promise.resolve(commands),
    post: (answer) => goOn(session, answer),
  });
  session.send({ kind: "open" });
  await ended.promise;
  const { adapter, answers } = recorder;
  if (adapter === undefined) throw new Error("the session opened no GPU");
  return { adapter, settings, answers };
}
