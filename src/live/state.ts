/** What the page knows: the conversation with the trainer so far, as one value. */
import type { CheckResult } from "../diagnose/invariant.ts";
import type { MetricsRow } from "../rl/metrics.ts";
import {
  type Answer,
  type LiveAdapter,
  type LiveEpisode,
  type LiveSettings,
  type Request,
  RUN_NAMES,
  type RunName,
} from "./messages.ts";

/** An answer of one kind. */
type AnswerOf<Kind extends Answer["kind"]> = Extract<Answer, { readonly kind: Kind }>;

/** What triage says of a run. */
export type LiveTriage = Omit<AnswerOf<"triaged">, "kind" | "run">;

/** One of the two runs, as far as it has come. */
export interface LiveRun {
  /** The verdicts before step 0; undefined: not yet given. */
  readonly results: readonly CheckResult[] | undefined;
  readonly rows: readonly MetricsRow[];
  /** An episode of the last step. */
  readonly episode: LiveEpisode | undefined;
  readonly triage: LiveTriage | undefined;
}

/**
 * Where the page stands. `idle`: nothing was asked for. `busy`: what comes before the first step. `waiting`: both runs are ready
 * for their next step. `running`: steps are being made. `pausing`: the one that is being made is the last.
 */
export type Phase = "idle" | "busy" | "waiting" | "running" | "pausing" | "ended" | "failed";

/** What the page knows. */
export interface LiveState {
  readonly phase: Phase;
  readonly settings: LiveSettings;
  readonly adapter: LiveAdapter | undefined;
  /** What is being done before the first step. */
  readonly doing: string;
  /** Episodes of the agent before any training. */
  readonly played: readonly LiveEpisode[];
  readonly runs: Readonly<Record<RunName, LiveRun>>;
  /** Tokens and milliseconds of the last steps, newest last. */
  readonly speed: readonly (readonly [tokens: number, ms: number])[];
  readonly hashes: AnswerOf<"ended">["hashes"];
  readonly failure: Omit<AnswerOf<"failed">, "kind"> | undefined;
  /** True where what is shown was recorded before. */
  readonly isReplay: boolean;
}

const NEW_RUN: LiveRun = {
  results: undefined,
  rows: [],
  episode: undefined,
  triage: undefined,
};

const NEW_RUNS = { healthy: NEW_RUN, broken: NEW_RUN };

/** Steps over which the speed is taken: a pair of runs makes two at a time. */
const SPEED_STEPS = 8;

/** A page that nobody has started. */
export function firstState(settings: LiveSettings): LiveState {
  return {
    phase: "idle",
    settings,
    adapter: undefined,
    doing: "",
    played: [],
    runs: NEW_RUNS,
    speed: [],
    hashes: {},
    failure: undefined,
    isReplay: false,
  };
}

/** The runs that there are: the broken one only where something is wrong with it. */
export function runNames({ settings: { fault } }: LiveState): readonly RunName[] {
  return fault === undefined ? ["healthy"] : RUN_NAMES;
}

/** Steps that every run has made. */
export function stepsDone(state: LiveState): number {
  return Math.min(...runNames(state).map((name) => state.runs[name].rows.length));
}

/** Tokens that are sampled and trained on in a second, over the last steps; undefined before the first. */
export function tokensPerSecond({ speed }: LiveState): number | undefined {
  const ms = speed.reduce((sum, [, part]) => sum + part, 0);
  return ms > 0 ? speed.reduce((sum, [tokens]) => sum + tokens, 0) * 1000 / ms : undefined;
}

/** The page after it has asked for something. */
export function afterRequest(state: LiveState, request: Request): LiveState {
  switch (request.kind) {
    case "open":
      // Why a recording is played stays to be read while it is.
      return {
        ...state,
        phase: "busy",
        doing: "opening the GPU",
        failure: state.failure?.reason === "no-webgpu" ? state.failure : undefined,
      };
    case "begin":
      return {
        ...state,
        phase: "busy",
        doing: "checking the trainer before its first step",
        settings: request.settings,
        runs: NEW_RUNS,
        speed: [],
        hashes: {},
      };
    case "step":
      return { ...state, phase: "running" };
    case "pause":
      return state.phase === "running" ? { ...state, phase: "pausing" } : state;
    case "download":
      return state;
    default:
      return request satisfies never;
  }
}

function withRun(state: LiveState, name: RunName, change: Partial<LiveRun>): LiveState {
  return { ...state, runs: { ...state.runs, [name]: { ...state.runs[name], ...change } } };
}

/** The page after the trainer has said something. A file changes nothing that is shown. */
export function afterAnswer(state: LiveState, answer: Answer): LiveState {
  switch (answer.kind) {
    case "opened": {
      const { adapter, isReplay = false } = answer;
      return { ...state, adapter, isReplay, failure: isReplay ? state.failure : undefined };
    }
    case "progress":
      return { ...state, doing: answer.doing };
    case "played":
      return { ...state, played: answer.episodes };
    case "checked":
      return withRun(state, answer.run, { results: answer.results });
    case "ready":
      return { ...state, phase: "waiting", settings: answer.settings };
    case "stepped": {
      const { run, row, episode, tokens, ms } = answer;
      const speed = [...state.speed, [tokens, ms] as const].slice(-SPEED_STEPS);
      const rows = [...state.runs[run].rows, row];
      return { ...withRun(state, run, { rows, episode }), speed };
    }
    case "triaged": {
      const { kind: _kind, run, ...triage } = answer;
      return withRun(state, run, { triage });
    }
    case "paused":
      return { ...state, phase: "waiting" };
    case "ended":
      return { ...state, phase: "ended", hashes: answer.hashes };
    case "file":
      return state;
    case "failed": {
      const { kind: _kind, ...failure } = answer;
      return { ...state, phase: "failed", failure };
    }
    default:
      return answer satisfies never;
  }
}
