/** What to do about a suspected cause, as data: whoever shows it has the words. */

/** What helps against a cause, whatever the run is called. */
export type Advice =
  /** Do a step of the run again, with a stage replaced by the cause's where one is named. */
  | { readonly kind: "replay"; readonly step: number; readonly stage?: string }
  /** Train another run beside it. */
  | {
    readonly kind: "train";
    /** How its folder ends. */
    readonly suffix: string;
    readonly steps?: number;
    readonly config: Readonly<Record<string, unknown>>;
  }
  /** Look at so many episodes of the run's last weights. */
  | { readonly kind: "evaluate"; readonly transcripts: number }
  /** What this program cannot do: a sentence in the words of the run's own trainer. */
  | { readonly kind: "say"; readonly sentence: string };

/** What to do next about a run. */
export type NextStep =
  | {
    readonly kind: "replay";
    readonly run: string;
    readonly step: number;
    readonly replace?: { readonly stage: string; readonly fault: string };
  }
  | {
    readonly kind: "train";
    readonly out: string;
    readonly steps?: number;
    readonly config: Readonly<Record<string, unknown>>;
  }
  /** Look at episodes of the run's weights after so many steps. */
  | {
    readonly kind: "evaluate";
    readonly run: string;
    readonly steps: number;
    readonly transcripts: number;
  }
  | { readonly kind: "say"; readonly sentence: string }
  /** There is no run to look into: check, or train, a trainer with the fault, to compare with. */
  | { readonly kind: "check" | "make"; readonly fault: string };

/** A run to look into. */
export interface SuspectedRun {
  /** Its folder. */
  readonly folder: string;
  /** Steps that it has. */
  readonly steps: number;
}

/** The folder of a run beside another one. */
function beside(folder: string, suffix: string): string {
  return `${folder.replace(/(?<=.)\/+$/, "")}-${suffix}`;
}

/**
 * Advice about a run.
 *
 * @param advice What helps against the cause.
 * @param options.fault The cause.
 * @param options.kind Whether its code or its configuration is wrong.
 * @param options.run The run; where there is none to look into, the cause itself is shown, to compare with.
 */
export function nextStep(
  advice: Advice,
  { fault, kind, run }: {
    readonly fault: string;
    readonly kind: "code" | "configuration";
    readonly run: SuspectedRun | undefined;
  },
): NextStep {
  if (advice.kind === "say") return advice;
  if (run === undefined) return { kind: kind === "code" ? "check" : "make", fault };
  const { folder, steps } = run;
  switch (advice.kind) {
    case "replay": {
      const { step, stage } = advice;
      const replace = stage === undefined ? {} : { replace: { stage, fault } };
      return { kind: "replay", run: folder, step, ...replace };
    }
    case "train": {
      const { suffix, ...rest } = advice;
      return { ...rest, out: beside(folder, suffix) };
    }
    case "evaluate":
      return { ...advice, run: folder, steps };
    default:
      return advice satisfies never;
  }
}

/** A next step as a sentence, for where no command is at hand. */
export function nextSentence(next: NextStep): string {
  switch (next.kind) {
    case "replay": {
      const { run, step, replace } = next;
      return replace === undefined
        ? `Replay step ${step} of ${run}.`
        : `Replay step ${step} of ${run} with ${replace.stage} replaced by that of the fault ${replace.fault}: ` +
          "a run that has this fault stays as it is.";
    }
    case "train": {
      const { out, steps, config } = next;
      const settings = Object.entries(config).map(([key, value]) => `${key} ${value}`).join(", ");
      return `Train ${
        steps === undefined ? "" : `${steps} steps of `
      }another run with ${settings} into ${out}.`;
    }
    case "evaluate":
      return `Read ${next.transcripts} episodes of ${next.run} after step ${next.steps}.`;
    case "say":
      return next.sentence;
    case "check":
      return `Compare with the invariants of a trainer that has the fault ${next.fault}.`;
    case "make":
      return `Compare with a run that is made with ${next.fault}.`;
    default:
      return next satisfies never;
  }
}
