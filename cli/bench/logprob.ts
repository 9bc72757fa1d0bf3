/** `agentrl bench logprob`: the fused log-prob and entropy beside the way through [N, V], and beside a peer program. */
import type { LogprobDocument } from "../../src/bench/documents.ts";
import { z } from "zod";
import { UserError } from "../../src/core/errors.ts";
import { largest, median, smallest } from "../../src/core/statistics.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import {
  type CheckedPath,
  FUSED_BYTES_BAR,
  LOGPROB_BENCH,
  type LogprobErrors,
  type LogprobTiming,
  prepareLogprobCase,
} from "../../src/bench/logprob.ts";
import { Peer } from "../../src/bench/peer.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { formatColumns } from "../table.ts";
import {
  type BenchFlags,
  grouped,
  type MachineFacts,
  machineFacts,
  machineRows,
  shortMs,
} from "./facts.ts";

/** A vocabulary takes no further round after this time, once it has MIN_ROUNDS. */
const MAX_CASE_MS = 30_000;
const MIN_ROUNDS = 3;
/** A peer that took this many times as long as the fastest one in the first round, and that long, is not asked again. */
const HOPELESS = { ratio: 1.5, ms: 1000 } as const;

/** The largest vocabulary of a short measurement. */
const SHORT_VOCABULARY = 32_768;

/** What was measured of one way: medians. */
interface PathResult extends LogprobTiming {
  /** Beyond inputs and outputs. */
  readonly workspaceBytes: number;
  readonly errors: LogprobErrors;
}

interface PeerResult extends PathResult {
  readonly threads: number;
}

/** A row of the document. */
interface CaseResult {
  readonly vocabSize: number;
  readonly rounds: number;
  readonly checkedRows: number;
  readonly fused: PathResult;
  readonly unfused: PathResult | null;
  readonly unfusedRefusal: string | null;
  readonly peer: PeerResult | null;
  /** Time of the fused forward and backward over the peer's. */
  readonly ratio: number | null;
}

/** What a peer must say beyond its time. */
const peerAnswerSchema = z.object({
  ms: z.number(),
  forwardMs: z.number().positive(),
  peakBytes: z.number().min(0),
  errors: z.object({
    logp: z.number(),
    entropy: z.number(),
    dh: z.number(),
    dhead: z.number(),
  }),
});

type PeerAnswer = z.infer<typeof peerAnswerSchema>;

async function askPeer(peer: Peer, vocabSize: number): Promise<PeerAnswer> {
  const { data } = peerAnswerSchema.safeParse(await peer.ask(`logprob${vocabSize}`));
  if (data) return data;
  throw new UserError(
    `The peer answered "logprob${vocabSize}" without forwardMs, peakBytes and the errors logp, entropy, dh, dhead`,
  );
}

/** Time of a forward and a backward. */
function totalMs({ forwardMs, backwardMs }: LogprobTiming): number {
  return forwardMs + backwardMs;
}

function medians(timings: readonly LogprobTiming[]): LogprobTiming {
  return {
    forwardMs: median(timings.map(({ forwardMs }) => forwardMs)),
    backwardMs: median(timings.map(({ backwardMs }) => backwardMs)),
  };
}

function pathResult(path: CheckedPath, timings: readonly LogprobTiming[]): PathResult {
  const { workspaceBytes, errors } = path;
  return { ...medians(timings), workspaceBytes, errors };
}

/** The peer with the faster number of threads. */
function fasterPeer(
  peers: readonly Peer[],
  answers: readonly (readonly PeerAnswer[])[],
): PeerResult | null {
  const results = peers.map(({ threads }, p): PeerResult => {
    const timings = answers[p].map(({ ms, forwardMs }) => ({
      forwardMs,
      backwardMs: ms - forwardMs,
    }));
    const { peakBytes, errors } = answers[p][0];
    return { ...medians(timings), workspaceBytes: peakBytes, errors, threads };
  });
  return results.sort((a, b) => totalMs(a) - totalMs(b))[0] ?? null;
}

async function measureCase(
  commands: Commands,
  options: {
    readonly vocabSize: number;
    readonly rounds: number;
    readonly peers: readonly Peer[];
    readonly onRound: (round: number) => void;
  },
): Promise<CaseResult> {
  const { vocabSize, peers, onRound } = options;
  const { rowCount, width } = LOGPROB_BENCH;
  const bench = await prepareLogprobCase(commands, { rowCount, width, vocabSize });
  const { checkedRows, fused, unfused, unfusedRefusal } = bench;
  const fusedTimings: LogprobTiming[] = [];
  const unfusedTimings: LogprobTiming[] = [];
  const answers = peers.map((): PeerAnswer[] => []);
  let round = 0;
  try {
    // Ours is warm after its check; the first question warms a peer.
    for (const peer of peers) await askPeer(peer, vocabSize);
    const start = performance.now();
    for (; round < options.rounds; round++) {
      if (round >= MIN_ROUNDS && performance.now() - start > MAX_CASE_MS) break;
      onRound(round);
      fusedTimings.push(await fused.run());
      if (unfused) unfusedTimings.push(await unfused.run());
      const fastest = smallest(answers.map(([first]) => first?.ms ?? Infinity));
      for (const [p, peer] of peers.entries()) {
        const firstMs = answers[p][0]?.ms ?? 0;
        if (firstMs > Math.max(HOPELESS.ms, HOPELESS.ratio * fastest)) continue;
        answers[p].push(await askPeer(peer, vocabSize));
      }
    }
  } finally {
    bench.free();
  }
  const ours = pathResult(fused, fusedTimings);
  const peer = fasterPeer(peers, answers);
  return {
    vocabSize,
    rounds: round,
    checkedRows,
    fused: ours,
    unfused: unfused && pathResult(unfused, unfusedTimings),
    unfusedRefusal,
    peer,
    ratio: peer && totalMs(ours) / totalMs(peer),
  };
}

function mebibytes(bytes: number): string {
  const size = bytes / 2 ** 20;
  return `${size >= 100 ? grouped(size) : size.toFixed(1)} MiB`;
}

function pathRow(result: PathResult): string[] {
  const { forwardMs, backwardMs, workspaceBytes, errors } = result;
  const { logp, entropy, dh, dhead } = errors;
  return [
    shortMs(forwardMs),
    shortMs(backwardMs),
    mebibytes(workspaceBytes),
    ...[logp, entropy, dh, dhead].map((error) => error.toExponential(1)),
  ];
}

function caseRows({ vocabSize, fused, unfused, peer }: CaseResult): string[][] {
  return [
    [grouped(vocabSize), "fused", ...pathRow(fused)],
    ["", "unfused", ...(unfused ? pathRow(unfused) : ["–", "–", "–", "–", "–", "–", "–"])],
    ...(peer ? [["", `peer ×${peer.threads}`, ...pathRow(peer)]] : []),
  ];
}

/** "7, interleaved; medians", and where the time ended earlier. */
function roundsText(results: readonly CaseResult[], wanted: number): string {
  const fewer = results.filter(({ rounds }) => rounds < wanted)
    .map(({ vocabSize, rounds }) => `; ${rounds} at V=${grouped(vocabSize)}`);
  return `${wanted}, interleaved; medians${fewer.join("")}`;
}

function formatCases(
  machine: MachineFacts,
  results: readonly CaseResult[],
  flags: BenchFlags,
): string[] {
  const { rowCount, width } = LOGPROB_BENCH;
  const most = largest(results.map(({ fused }) => fused.workspaceBytes));
  const verdict = most <= FUSED_BYTES_BAR ? "holds" : "does not hold";
  const ratios = results.flatMap(({ vocabSize, ratio }) =>
    ratio === null ? [] : [`${ratio.toFixed(2)} at V=${grouped(vocabSize)}`]
  );
  return [
    ...formatTable([
      ...machineRows(machine),
      ["batch", `${grouped(rowCount)} rows of width ${width}; forward, then backward`],
      ["rounds", roundsText(results, flags.rounds)],
      ["fused", "logits are recomputed, a tile at a time"],
      ["unfused", "logits and their gradient are stored, [N, V] both"],
      ...(flags.peer === "" ? [] : [["peer", `${flags.peer}, × threads`] as const]),
      ["beyond", "memory beyond inputs and outputs"],
      [
        "errors",
        "largest, against float64, of " +
        results.map(({ checkedRows }) => grouped(checkedRows)).join(", ") +
        " rows; log-prob and entropy in nats, gradients of hidden states and head over their largest entry",
      ],
    ]),
    "",
    ...formatColumns(
      ["V", "way", " fwd ms", " bwd ms", " beyond", " logp", " entropy", " dh", " dhead"],
      results.flatMap(caseRows),
    ),
    "",
    ...formatTable([
      ["bar", `${mebibytes(FUSED_BYTES_BAR)} beyond for fused: ${verdict} (${mebibytes(most)})`],
      ...(ratios.length === 0 ? [] : [["fused / peer", ratios.join(", ")] as const]),
      ...results.flatMap(({ vocabSize, unfusedRefusal }) =>
        unfusedRefusal === null
          ? []
          : [["does not fit", `unfused at V=${grouped(vocabSize)}: ${unfusedRefusal}`] as const]
      ),
    ]),
  ];
}

/** Runs the suite. */
export async function benchLogprob(commands: Commands, flags: BenchFlags): Promise<Outcome> {
  const { rowCount, width } = LOGPROB_BENCH;
  const { rounds, isShort = false } = flags;
  const vocabSizes = LOGPROB_BENCH.vocabSizes.filter((size) =>
    !isShort || size <= SHORT_VOCABULARY
  );
  const peers = flags.peer === ""
    ? []
    : [await Peer.start(flags.peer, 1), await Peer.start(flags.peer, 2)];
  const total = rounds * vocabSizes.length;
  using progress = stderrProgress({ label: "bench logprob", total, alreadyDone: 0 });
  const cases: CaseResult[] = [];
  for (const [i, vocabSize] of vocabSizes.entries()) {
    const onRound = (round: number) =>
      progress.update(i * rounds + round, `V = ${grouped(vocabSize)}`);
    onRound(0);
    cases.push(await measureCase(commands, { vocabSize, rounds, peers, onRound }));
  }
  progress.update(total);
  for (const peer of peers) await peer.close();
  const machine = machineFacts(commands.gpu);
  return {
    document: { ...machine, rows: rowCount, width, rounds, cases } satisfies LogprobDocument,
    text: formatCases(machine, cases, flags).join("\n"),
    emphasis: [{ pattern: /\bdoes not (?:hold|fit)\b/g, style: "red" }],
  };
}
