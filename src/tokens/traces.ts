/** Traces of verifiers, which prime-rl writes for each step: episodes as trees of messages, whose paths are the samples. */
import type { Field } from "./field.ts";
import { firstKeys, jsonRows } from "./json_rows.ts";
import { stopReason } from "./stop_reason.ts";
import type { TokenSequence, TokenValues } from "./token_batch.ts";
import type { TokenNotes, TokenReader } from "./token_reader.ts";
import { present } from "./token_values.ts";
import { type TraceNode, tracePaths } from "./trace_nodes.ts";

/** Values of the nodes of a path, one after the other; undefined where no node has any. */
function joined(
  path: readonly TraceNode[],
  valuesOf: (node: TraceNode) => TokenValues | undefined,
): TokenValues | undefined {
  if (path.every((node) => valuesOf(node) === undefined)) return undefined;
  const length = path.reduce((sum, { ids }) => sum + ids.length, 0);
  const values = new Float64Array(length).fill(NaN);
  const nonFinite: number[] = [];
  let at = 0;
  for (const node of path) {
    const own = valuesOf(node);
    if (own) {
      values.set(own.values, at);
      for (const token of own.nonFinite) nonFinite.push(at + token);
    }
    at += node.ids.length;
  }
  return { values, nonFinite };
}

function tokensOf(path: readonly TraceNode[]) {
  const concat = <T>(listOf: (node: TraceNode) => Iterable<T>): T[] =>
    path.flatMap((node) => Array.from(listOf(node)));
  return {
    ids: Uint32Array.from(concat(({ ids }) => ids)),
    mask: Uint8Array.from(concat(({ mask }) => mask)),
    sampled: Uint8Array.from(concat(({ sampled }) => sampled)),
    roles: Uint8Array.from(concat(({ ids, role }) => new Uint8Array(ids.length).fill(role))),
    logProbs: present({
      sampler: joined(path, ({ logProbs }) => logProbs),
      reference: joined(path, ({ reference }) => reference),
    }),
    ...present({ advantages: joined(path, ({ advantages }) => advantages) }),
  };
}

/** The parts of a reward, and their weighted sum; a part that is null was not scored. */
function rewardsOf(field: Field) {
  const parts = new Map<string, number>();
  let reward: number | undefined;
  for (const [name, part] of field.isAbsent ? [] : field.entries()) {
    const score = part.isAbsent ? undefined : part.get("score").number();
    if (score === undefined) continue;
    parts.set(name, score);
    reward = (reward ?? 0) + score * (part.get("weight").number() ?? 1);
  }
  return parts.size === 0 ? {} : present({ reward, rewardParts: parts });
}

const isFilled = ({ value }: Field) => Array.isArray(value) && value.length > 0;

function endOf(trace: Field) {
  const stopText = trace.get("stop_condition").label();
  const hasFailed = isFilled(trace.get("errors")) || trace.get("ok").value === false;
  if (hasFailed) return present({ stop: "error" as const, stopText });
  return stopText === undefined ? {} : { stop: stopReason(stopText), stopText };
}

/** A name that stands as a text, or within an object under one of some keys. */
function nameOf(field: Field, ...keys: string[]): string | undefined {
  if (typeof field.value !== "object" || field.isAbsent) return field.label();
  return keys.map((key) => field.get(key).label()).find((name) => name !== undefined);
}

/** The step, and the weights where they were the same from the episode's first token to its last. */
function workOf(episode: Field, notes: TokenNotes) {
  const run = episode.get("run");
  const work = run.isAbsent ? run : run.get("work");
  if (work.isAbsent) return {};
  const policy = work.get("policy");
  const [start, end] = policy.isAbsent
    ? []
    : [policy.get("start").count(), policy.get("end").count()];
  if (start !== end) {
    const { file, row } = episode.place;
    notes.ignore("versions of weights that changed within an episode", `${file}, row ${row}`);
  }
  return present({ step: work.get("step").count(), version: start === end ? start : undefined });
}

function* sequencesOf(episode: Field, notes: TokenNotes): Generator<TokenSequence> {
  const { step, version } = workOf(episode, notes);
  const group = nameOf(episode.get("group"), "id");
  const traces = episode.get("traces").items();
  const agents = new Set(traces.map((trace) => trace.get("agent").label()));
  for (const trace of traces) {
    const agent = trace.get("agent").label();
    const ofTrace = present({
      step,
      environment: nameOf(episode.get("env"), "name", "id"),
      // Agents of one episode have different tasks, and so different baselines.
      group: group !== undefined && agents.size > 1 ? `${group} ${agent ?? ""}` : group,
      sample: trace.get("id").label(),
      ...rewardsOf(trace.get("rewards")),
      ...endOf(trace),
    });
    for (const path of tracePaths(trace.get("nodes"))) {
      const tokens = tokensOf(path);
      if (tokens.ids.length === 0) {
        notes.ignore("paths without tokens", `${episode.place.file}, row ${episode.place.row}`);
        continue;
      }
      const weightVersions = version === undefined
        ? undefined
        : new Int32Array(tokens.ids.length).fill(version);
      yield { ...episode.place, offset: 0, ...ofTrace, ...tokens, ...present({ weightVersions }) };
    }
  }
}

/** Traces of verifiers. */
export const TRACES: TokenReader = {
  form: "traces",
  title: "verifiers and prime-rl traces.jsonl",
  producer: "prime_rl",
  howToGet: [
    "prime-rl: rollouts/step_N/train/effective/traces.jsonl in the output folder (on by default)",
  ],
  holds: "tokens",
  detect(head) {
    const keys = firstKeys(head);
    if (!keys) return 0;
    if (keys.has("traces")) return 1;
    // A long task can hide what follows it.
    return keys.has("task") && keys.has("env") && keys.has("id") ? 0.7 : 0;
  },
  async *read(input, notes) {
    for await (const row of jsonRows(input, notes)) yield* sequencesOf(row, notes);
  },
};
