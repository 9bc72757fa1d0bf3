/**
 * What the page and the trainer behind it say to each other. The trainer stands in a worker where the browser offers WebGPU there,
 * and beside the page otherwise; a recorded run is the trainer's half of such a conversation.
 */
import type { CheckResult } from "../diagnose/invariant.ts";
import type { SaidFinding } from "../diagnose/finding.ts";
import type { TriageReport } from "../diagnose/triage/triage.ts";
import type { FaultName } from "../faults/faults.ts";
import type { TrainConfig } from "../rl/config_keys.ts";
import type { MetricsRow } from "../rl/metrics.ts";

/** The two runs that learn side by side from one agent and one seed. */
export const RUN_NAMES = ["healthy", "broken"] as const;

/** One of the two runs. */
export type RunName = typeof RUN_NAMES[number];

/** What is run; the fragment of the page's address says the same. */
export interface LiveSettings {
  /** What is wrong with the broken run; undefined: there is no such run. */
  readonly fault: FaultName | undefined;
  /** The training seed, a whole number of at least 0. */
  readonly seed: number;
  /** Steps of each run, at least 1. */
  readonly steps: number;
}

/** What the page asks for. Steps begin in the order in which they are asked for; a new `begin` ends what was there. */
export type Request =
  /** Open the GPU and let the base agent play once. Answered by `opened` and `played`, or `failed`. */
  | { readonly kind: "open" }
  /** Begin both runs: their checks are made, and no step. Answered by `checked` of each run, then `ready`. */
  | { readonly kind: "begin"; readonly settings: LiveSettings }
  /** Make steps: one of each run, or as many as are left. Answered by `stepped` and `triaged`, at the end by `ended`. */
  | { readonly kind: "step"; readonly steps: "one" | "all" }
  /** Stop after the step that is being made. Answered by `paused`. */
  | { readonly kind: "pause" }
  /** A file of a run. Answered by `file`. */
  | { readonly kind: "download"; readonly run: RunName; readonly file: "metrics" | "checkpoint" };

/** The adapter as the page shows it. */
export interface LiveAdapter {
  /** Its description; where the browser gives none, vendor and architecture. */
  readonly name: string;
  /** True where the processor stands in for a GPU. */
  readonly isSoftware: boolean;
}

/** An episode to read. */
export interface LiveEpisode {
  /** The task's name. */
  readonly task: string;
  /** Tokens as words, with who wrote each (src/core/owner.ts) and the sampler's log-prob in nats, 0 where nothing was sampled. */
  readonly words: readonly string[];
  readonly owners: readonly number[];
  readonly logps: readonly number[];
  /** What it was paid. */
  readonly reward: number;
  /** Whether the hidden tests pass and it was submitted, whatever was paid. */
  readonly passes: boolean;
}

/** What the trainer says. Numbers that are not finite arrive as they are; in a recording they are null. */
export type Answer =
  | {
    readonly kind: "opened";
    /** Where it computes; of a recording where that was made. */
    readonly adapter: LiveAdapter;
    /** True: what follows was recorded, and its own settings hold. */
    readonly isReplay?: boolean;
  }
  /** How far the work before the first step is, in words that end in no full stop. */
  | { readonly kind: "progress"; readonly doing: string }
  /** The base agent before any training, on several tasks. */
  | { readonly kind: "played"; readonly episodes: readonly LiveEpisode[] }
  /** The verdicts of the invariants before step 0. */
  | { readonly kind: "checked"; readonly run: RunName; readonly results: readonly CheckResult[] }
  | { readonly kind: "ready"; readonly settings: LiveSettings }
  /** One step of one run. */
  | {
    readonly kind: "stepped";
    readonly run: RunName;
    readonly row: MetricsRow;
    /** An episode of the step. */
    readonly episode: LiveEpisode;
    /** Tokens that were sampled and trained on, and what the step took. */
    readonly tokens: number;
    readonly ms: number;
  }
  /** What triage says of the run as it is now. */
  | {
    readonly kind: "triaged";
    readonly run: RunName;
    readonly conclusion: TriageReport["conclusion"];
    readonly note: string;
    /** Likeliest first, beliefs from 0 to 1. */
    readonly causes: readonly { readonly fault: string; readonly belief: number }[];
    readonly findings: readonly SaidFinding[];
  }
  | { readonly kind: "paused" }
  /** All steps are made. SHA-256 of the weights, as `agentrl` prints it. */
  | { readonly kind: "ended"; readonly hashes: Readonly<Partial<Record<RunName, string>>> }
  | {
    readonly kind: "file";
    readonly name: string;
    readonly type: string;
    readonly bytes: Uint8Array<ArrayBuffer>;
  }
  /** Nothing further comes, but a new `open` may help. One sentence: what was found and what to do. */
  | {
    readonly kind: "failed";
    readonly reason: "no-webgpu" | "lost" | "mistake";
    readonly sentence: string;
  };

/** A conversation that was written down: what the trainer said, with when after `begin`, in milliseconds. */
export interface Recording {
  /** Where it was made. */
  readonly adapter: LiveAdapter;
  readonly settings: LiveSettings;
  readonly answers: readonly { readonly ms: number; readonly answer: Answer }[];
}

/** What stands in the page for its script: block `live-data`. */
export interface LiveData {
  /** Version of agentrl that made the page. */
  readonly version: string;
  /** Weights of the base agent: the bytes of its checkpoint in base64. */
  readonly base: string;
  readonly recording: Recording;
  /** Settings of both runs beside those of the catalogue. */
  readonly config?: Partial<TrainConfig>;
}
