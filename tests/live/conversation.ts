/** A conversation with the trainer, made up, for tests of what the page makes of it. */
import type { CheckResult, CheckVerdict } from "../../src/diagnose/invariant.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import type { Answer, LiveEpisode, LiveSettings, RunName } from "../../src/live/messages.ts";
import type { MetricsRow } from "../../src/rl/metrics.ts";

export const SETTINGS: LiveSettings = { fault: "mask_shift", seed: 0, steps: 2 };

/** Two rows of a healthy run. */
export const ROWS = HEALTHY_REFERENCE_FILE.seeds[0]!.rows.slice(0, 2) as unknown as MetricsRow[];

/** An episode whose task has a name that must be escaped. */
export const EPISODE: LiveEpisode = {
  task: "<b>ratio</b>",
  words: ["<task>", "ratio", "<call>", "submit", "</call>"],
  owners: [1, 1, 2, 2, 2],
  logps: [0, 0, -0.1, -4, -0.2],
  reward: 1,
  passes: true,
};

/** One verdict. */
export function verdict(id: number, name: string, verdict: CheckVerdict): CheckResult {
  return {
    id,
    name,
    value: 0.5,
    relation: "<=",
    bound: 0,
    boundReason: "because",
    verdict,
    reason: "what it is",
  };
}

/** What the trainer says of a run of two steps. */
export const CONVERSATION: readonly Answer[] = [
  { kind: "opened", adapter: { name: "a GPU", isSoftware: false } },
  { kind: "progress", doing: "playing before any training" },
  { kind: "played", episodes: [EPISODE, { ...EPISODE, passes: false }] },
  { kind: "checked", run: "healthy", results: [verdict(1, "mask = policy tokens", "holds")] },
  { kind: "checked", run: "broken", results: [verdict(1, "mask = policy tokens", "violated")] },
  { kind: "ready", settings: SETTINGS },
  ...[0, 1].flatMap((step) => (["healthy", "broken"] as const).flatMap((run) => said(run, step))),
  { kind: "ended", hashes: { healthy: "ab", broken: "cd" } },
];

function said(run: RunName, step: number): Answer[] {
  const causes = run === "healthy" ? [] : [{ fault: "mask_shift", belief: 0.82 }];
  return [
    { kind: "stepped", run, row: ROWS[step]!, episode: EPISODE, tokens: 500, ms: 250 },
    {
      kind: "triaged",
      run,
      conclusion: run === "healthy" ? "nothing-fired" : "fault",
      note: "What is to be said.",
      causes,
      findings: [],
    },
  ];
}
