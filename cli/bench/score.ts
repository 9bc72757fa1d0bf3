/** `agentrl bench score`: log-probs under random weights in the shape of a real model, beside a peer program. */
import { availableParallelism } from "node:os";
import { z } from "zod";
import type { ScoreDocument } from "../../src/bench/documents.ts";
import { bestPeak, type Peak, preparePeakBench } from "../../src/bench/peak.ts";
import { Peer } from "../../src/bench/peer.ts";
import {
  farthestApart,
  prepareScoreBench,
  SCORE_BYTES_BAR,
  SCORE_TOLERANCE,
  type ScoreBench,
  summarizeScores,
} from "../../src/bench/score.ts";
import { UserError } from "../../src/core/errors.ts";
import type { Commands } from "../../src/gpu/commands.ts";
import { createTimer } from "../../src/gpu/timing.ts";
import type { Outcome } from "../command.ts";
import { formatTable } from "../flags.ts";
import { formatColumns } from "../table.ts";
import {
  type BenchFlags,
  grouped,
  type MachineFacts,
  machineFacts,
  machineRows,
  peakRow,
  percent,
  roundsRow,
  shortMs,
} from "./facts.ts";
import { measureInRounds } from "./rounds.ts";

/** What a peer is asked for: f32 as we compute, and bf16 as trainers and samplers do. */
const PEER_DTYPES = ["f32", "bf16"] as const;

/** What a peer must say beyond its time. */
const peerAnswerSchema = z.object({
  ms: z.number(),
  logp: z.array(z.number()),
  peakBytes: z.number().min(0),
});

type PeerAnswer = z.infer<typeof peerAnswerSchema>;
type Result = Omit<ScoreDocument, "adapter" | "cpu">;

async function askPeer(peer: Peer, question: string): Promise<PeerAnswer> {
  const { data } = peerAnswerSchema.safeParse(await peer.ask(question));
  if (data) return data;
  throw new UserError(`The peer answered "${question}" without logp and peakBytes`);
}

/** Measures ours and the peer in turn. @throws {UserError} When the peer scores something else. */
async function measure(
  commands: Commands,
  { bench, peer, flags }: {
    readonly bench: ScoreBench;
    readonly peer: Peer | undefined;
    readonly flags: BenchFlags;
  },
): Promise<Result> {
  const { shape, tokens, weights, rounds } = flags;
  const questions = peer ? PEER_DTYPES.map((dtype) => `score ${shape} ${tokens} ${dtype}`) : [];
  const answers: PeerAnswer[] = [];
  const probe = preparePeakBench(await createTimer(commands));
  const peaks: Peak[] = [];
  const [ours, ...theirs] = await measureInRounds({
    label: "bench score",
    rounds,
    titles: ["ours", ...PEER_DTYPES.map((dtype) => `peer, ${dtype}`)].slice(
      0,
      1 + questions.length,
    ),
    measure: async (i) => {
      if (i === 0 || peer === undefined) return await bench.measure();
      return (answers[i - 1] = await askPeer(peer, questions[i - 1])).ms;
    },
    afterRound: async () => void peaks.push(await probe.measure()),
  });
  probe.destroy();
  const peak = bestPeak(peaks);
  const summary = (ms_R: readonly number[]) =>
    summarizeScores(ms_R, { tokens, work: bench.work, peak });
  const peers = answers.map(({ logp, peakBytes }, i) => ({
    dtype: PEER_DTYPES[i],
    threads: peer?.threads ?? 0,
    ...summary(theirs[i]),
    peakBytes,
    offNats: farthestApart(bench.logp, logp),
  }));
  const { weightBytes, workspaceBytes, processBytes } = bench;
  const our = summary(ours);
  return {
    shape,
    tokens,
    weights,
    rounds,
    peak,
    weightBytes,
    workspaceBytes,
    processBytes,
    ours: our,
    peers,
    ratio: peers.length === 0 ? null : our.ms / peers[0].ms,
  };
}

function megabytes(bytes: number): string {
  return `${grouped(bytes / 1e6)} MB`;
}

function shortRate(rate: number): string {
  return rate >= 100 ? grouped(rate) : rate.toPrecision(3);
}

function formatScores(machine: MachineFacts, result: Result, flags: BenchFlags): string[] {
  const { shape, tokens, weights, peak, ours, peers, ratio } = result;
  const { weightBytes, workspaceBytes, processBytes } = result;
  const needed = processBytes ?? workspaceBytes;
  const [first] = peers;
  return [
    ...formatTable([
      ...machineRows(machine),
      roundsRow(result.rounds),
      peakRow(peak),
      ["model", `${shape}, random weights, ${megabytes(weightBytes)} in ${weights}`],
      ["sequence", `${grouped(tokens)} tokens: log-prob and entropy of each`],
      ...(peers.length === 0 ? [] : [["peer", `${flags.peer}, × threads`] as const]),
      ["beyond", "memory beyond the weights: of ours on the device, of the peer's allocator"],
    ]),
    "",
    ...formatColumns(
      ["way", " ms", " tokens/s", " GFLOP/s", " of roofline", " beyond", " log-probs off"],
      [
        [
          `ours, ${weights}`,
          shortMs(ours.ms),
          shortRate(ours.tokensPerSecond),
          shortRate(ours.gflops),
          percent(ours.rooflineShare),
          megabytes(workspaceBytes),
          "",
        ],
        ...peers.map((row) => [
          `peer, ${row.dtype} ×${row.threads}`,
          shortMs(row.ms),
          shortRate(row.tokensPerSecond),
          shortRate(row.gflops),
          "",
          megabytes(row.peakBytes),
          row.offNats.toExponential(1),
        ]),
      ],
    ),
    "",
    ...formatTable([
      [
        "memory",
        `at most ${megabytes(needed)} beyond the weights${
          processBytes === null ? "" : ", with all of the process"
        }; ${megabytes(SCORE_BYTES_BAR)} ${needed < SCORE_BYTES_BAR ? "holds" : "does not hold"}`,
      ],
      ...(ratio === null ? [] : [["ours / peer", `${ratio.toFixed(2)} in f32`] as const]),
      ...(first && first.offNats > SCORE_TOLERANCE
        ? [["log-probs", `the peer's f32 does not agree within ${SCORE_TOLERANCE} nats`] as const]
        : []),
    ]),
  ];
}

/** Runs the suite. */
export async function benchScore(commands: Commands, flags: BenchFlags): Promise<Outcome> {
  const { shape, tokens, weights } = flags;
  const peer = flags.peer === "" ? undefined : await Peer.start(flags.peer, availableParallelism());
  try {
    const bench = await prepareScoreBench(commands, { shape, tokens, storage: weights });
    try {
      const result = await measure(commands, { bench, peer, flags });
      const machine = machineFacts(commands.gpu);
      return {
        document: { ...machine, ...result } satisfies ScoreDocument,
        text: formatScores(machine, result, flags).join("\n"),
        emphasis: [{ pattern: /\bdoes not (?:hold|agree)\b/g, style: "red" }],
      };
    } finally {
      bench.free();
    }
  } finally {
    await peer?.close();
  }
}
