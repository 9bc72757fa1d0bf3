/** Tests of the knowledge of our own faults (src/faults/triage_rules.ts): each fires on its symptom, stays quiet on a healthy run, and says what it lacks. */
import { assert, assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { FAULT_NAMES, type FaultName } from "../../src/faults/faults.ts";
import { HEALTHY_REFERENCE_FILE } from "../../src/faults/healthy_reference.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import type { CheckVerdict } from "../../src/diagnose/invariant.ts";
import { triageMetrics } from "../../src/faults/run_metrics.ts";
import { metricSeries } from "../../src/diagnose/metric_series.ts";
import type { RecordedCheck } from "../../src/diagnose/triage/evaluate.ts";
import { triage, type TriageReport } from "../../src/diagnose/triage/triage.ts";
import { tinyAgentKnowledge } from "../../src/faults/tiny_agent_knowledge.ts";
import { RULES, TRIAGE_METRICS } from "../../src/faults/triage_rules.ts";
import { CAUSES } from "../../src/faults/triage_causes.ts";

type Row = Readonly<Record<string, number>>;

const KNOWLEDGE = tinyAgentKnowledge();
/** A healthy run; its seed is one of the reference's. */
const HEALTHY: readonly Row[] = HEALTHY_REFERENCE_FILE.seeds[1]!.rows;

/** The healthy run with some metrics made anew from their value and step. */
function altered(changes: Readonly<Record<string, (value: number, step: number) => number>>) {
  return HEALTHY.map((row) => ({
    ...row,
    ...Object.fromEntries(
      Object.entries(changes).map(([name, change]) => [name, change(row[name] ?? 0, row.step!)]),
    ),
  }));
}

/** All invariants hold, but for some verdicts. */
function verdicts(others: Readonly<Record<number, CheckVerdict>> = {}): RecordedCheck[] {
  return INVARIANTS.map(({ id, name }) => ({
    id,
    name,
    value: others[id] === "not-applicable" ? null : 0.5,
    bound: 0.1,
    verdict: others[id] ?? "holds",
  }));
}

function judge(rows: readonly Row[], checks?: readonly RecordedCheck[]): TriageReport {
  const metrics = metricSeries(rows, { names: TRIAGE_METRICS, source: "run" });
  return triage({ metrics, checks, runFolder: "runs/a" }, KNOWLEDGE);
}

const broken = (...ids: readonly number[]) =>
  verdicts(Object.fromEntries(ids.map((id) => [id, "violated" as const])));

const falling = (_: number, step: number) => 0.2 - 0.008 * step;
const rising = (_: number, step: number) => 0.1 + 0.03 * step;
const constant = (value: number) => () => value;

/** A run for each symptom, and the cause that must come first. */
const CASES: Readonly<
  Record<string, {
    readonly rows?: readonly Row[];
    readonly checks?: readonly RecordedCheck[];
    readonly first: FaultName;
  }>
> = {
  "the mask strays onto tokens that nobody sampled": {
    checks: broken(1, 2, 5),
    first: "mask_shift",
  },
  "the mask leaves out tokens of the policy": { checks: broken(1), first: "mask_end_call" },
  "the sampler's log-probs are not the trainer's, and they serve as the old ones": {
    checks: broken(2, 3),
    first: "sampler_temp",
  },
  "the sampler's record is not the trainer's log-prob, and the ratio is right": {
    checks: broken(2),
    first: "sampler_logp_temp",
  },
  "the gradient depends on how the batch is cut, and the loss on padding": {
    checks: broken(5, 6),
    first: "denominator",
  },
  "the gradient depends on how the batch is cut": { checks: broken(6), first: "accum_local" },
  "the ratio stays 1 within an update": { checks: broken(7), first: "stale_old_logp" },
  "an update makes good episodes less likely": { checks: broken(8), first: "sign_flip" },
  "the reference follows the policy": { checks: broken(9), first: "ref_is_policy" },
  "without a signal, an update still moves the weights": {
    checks: broken(10),
    first: "entropy_sign",
  },
  "episodes are compared with those of other problems": {
    checks: broken(11),
    first: "group_shuffle",
  },
  "the loss trains on tokens that nobody sampled": {
    rows: altered({ logp_gap: constant(3) }),
    first: "mask_shift",
  },
  "the loss trains on fewer tokens than the policy wrote": {
    rows: altered({ loss_tokens: (tokens) => 0.7 * tokens }),
    first: "mask_end_call",
  },
  "sampler and trainer disagree from the first step, and the ratio is off with them": {
    rows: altered({ logp_gap: constant(0.07), ratio_max: constant(4) }),
    first: "sampler_temp",
  },
  "sampler and trainer disagree from the first step, and the ratio is right": {
    rows: altered({ logp_gap: constant(0.07) }),
    first: "sampler_logp_temp",
  },
  "sampler and trainer agree in the first step and then drift apart": {
    rows: altered({ logp_gap: (_, step) => step === 0 ? 0 : 0.01 }),
    first: "stale_sampler",
  },
  "nothing is ever clipped and the ratio is exactly 1 all run": {
    rows: altered({ clip_frac: constant(0), ratio_max: constant(1), approx_kl: constant(0) }),
    first: "stale_old_logp",
  },
  "the KL to the reference is exactly 0 all run": {
    rows: altered({ kl_ref: constant(0) }),
    first: "ref_is_policy",
  },
  "the first update goes much too far": {
    rows: altered({ approx_kl: (kl) => 60 * kl }),
    first: "lr_high",
  },
  "the policy forgets how to write a call": {
    rows: altered({ malformed: constant(3) }),
    first: "lr_high",
  },
  "gradients are too large from the start": {
    rows: altered({ grad_norm: (norm) => 3 * norm }),
    first: "mask_shift",
  },
  "gradients are too small all run": {
    rows: altered({ grad_norm: (norm) => 0.3 * norm }),
    first: "denominator",
  },
  "entropy falls ahead of the reward, and exploration ends": {
    rows: altered({
      entropy: (_, step) => 0.5 * 0.8 ** step,
      reads: (_, step) => 0.3 * 0.7 ** step,
      reward: constant(0.2),
    }),
    first: "entropy_sign",
  },
  "failing episodes grow longer while the reward does not fall": {
    rows: altered({ length_fail: (_, step) => 16 + step }),
    first: "length_bias",
  },
  "the reward falls while the updates are of the usual size": {
    rows: altered({ reward: falling, entropy: constant(0.5) }),
    first: "sign_flip",
  },
  "the reward rises and the held-out pass rate does not": {
    rows: altered({ reward: rising, eval_pass: (_, step) => 0.2 - 0.01 * step }),
    first: "public_reward",
  },
  "the reward rises with the share of a known exploit": {
    rows: altered({ reward: rising, hardcode: rising }),
    first: "public_reward",
  },
};

Deno.test("triage() has a case for every rule, and every failure is a cause of some rule", () => {
  assertEquals(Object.keys(CASES).sort(), RULES.map(({ symptom }) => symptom).sort());
  assertEquals(Object.keys(CAUSES).sort(), [...FAULT_NAMES].sort());
  const named = new Set(RULES.flatMap(({ causes }) => Object.keys(causes)));
  assertEquals(FAULT_NAMES.filter((fault) => !named.has(fault)), []);
});

for (const [symptom, { rows = HEALTHY, checks, first }] of Object.entries(CASES)) {
  Deno.test(`triage() ranks ${first} first when ${symptom}`, () => {
    const { conclusion, causes } = judge(rows, checks);
    assertEquals(conclusion, "fault");
    const [cause] = causes;
    assertEquals(cause?.fault, first);
    const evidence = cause!.evidence.filter((item) => item.symptom === symptom);
    assert(evidence.length > 0, `its evidence: ${JSON.stringify(cause)}`);
    for (const { metric, step, value, bound } of evidence) {
      assert(metric !== "" && Number.isInteger(step), metric);
      assert(typeof value === "number" && Number.isFinite(bound), metric);
    }
    assert(cause!.score > 0 && cause!.score < 1, String(cause!.score));
    const { next } = cause!;
    assert(["replay", "train", "evaluate"].includes(next.kind), next.kind);
    const folder = next.kind === "train" ? next.out : "run" in next ? next.run : "";
    assert(folder.startsWith("runs/a"), folder);
    if (next.kind === "replay") assert(next.replace === undefined || next.replace.fault === first);
  });
}

Deno.test("triage() finds nothing in a healthy run and does not call it healthy", () => {
  const report = judge(HEALTHY, verdicts());
  assertEquals([report.conclusion, report.causes.length], ["nothing-fired", 0]);
  assert(report.note.includes("not the same as healthy"), report.note);
  // Without a KL term there is no KL to the reference.
  assertEquals(report.unchecked, [{
    verdict: "not-checkable",
    symptom: "the KL to the reference is exactly 0 all run",
    needs: ["kl_ref"],
  }]);
});

Deno.test("triage() says of every rule what it lacks", () => {
  const bare = judge(
    HEALTHY.map(({ step, tests }) => ({ step: step!, tests: tests!, turns: 3, reward: 0.5 })),
  );
  assertEquals(bare.causes, []);
  const silent = RULES.map(({ symptom }) => symptom).filter((symptom) =>
    !bare.unchecked.some((one) => one.symptom === symptom)
  );
  assert(bare.unchecked.every(({ verdict }) => verdict === "not-checkable"));
  // A reward that is high and neither rises nor falls suffices to keep these quiet.
  assertEquals(silent, [
    "entropy falls ahead of the reward, and exploration ends",
    "the reward falls while the updates are of the usual size",
    "the reward rises and the held-out pass rate does not",
    "the reward rises with the share of a known exploit",
  ]);
});

Deno.test("triage() needs eight steps for a trend and one for a first value", () => {
  const rows = altered({ length_fail: (_, step) => 16 + 4 * step, logp_gap: constant(3) });
  const short = judge(rows.slice(0, 7));
  assertEquals(short.causes[0]?.fault, "mask_shift");
  assert(!short.causes.some(({ fault }) => fault === "length_bias"), "no trend in seven steps");
  const needs = short.unchecked.flatMap((one) => one.needs);
  assert(needs.includes("more steps for the growth of length_fail"), needs.join());
  assert(judge(rows.slice(0, 8)).causes.some(({ fault }) => fault === "length_bias"));
});

Deno.test("triage() rules a failure out when the invariant that it cannot pass holds", () => {
  const { rows } = CASES["entropy falls ahead of the reward, and exploration ends"]!;
  assertEquals(judge(rows!).causes[0]?.fault, "entropy_sign");
  const checked = judge(rows!, verdicts());
  assertEquals(checked.causes, []);
  assertEquals(checked.conclusion, "unlucky");
});

Deno.test("triage() reports symptoms whose known causes are all ruled out", () => {
  const report = judge(altered({ logp_gap: constant(3) }), verdicts());
  assertEquals([report.conclusion, report.causes.length], ["unexplained", 0]);
  assertEquals(report.evidence.map(({ metric }) => metric), ["logp_gap"]);
});

Deno.test("triage() tells an unlucky run from a faulty one", () => {
  // No reads, so nothing to reward; entropy and update sizes as in a healthy run.
  const rows = altered({ reads: constant(0.05), reward: constant(0.19), eval_pass: constant(0.2) });
  const report = judge(rows, verdicts());
  assertEquals([report.conclusion, report.causes.length], ["unlucky", 0]);
  assertEquals(report.evidence.map(({ metric }) => metric), [
    "reads",
    "reward",
    "grad_norm",
    "approx_kl",
  ]);
  // The same run with a violated invariant is faulty, not unlucky.
  assertEquals(judge(rows, broken(6)).causes[0]?.fault, "accum_local");
});

Deno.test("triage() always lists a violated invariant, and calls no run unlucky beside it", () => {
  const unlucky = altered({ reads: constant(0.05), reward: constant(0.19) });
  for (const rows of [HEALTHY, unlucky]) {
    for (const ids of [[3], [4], [5], [3, 4], [4, 5]]) {
      const report = judge(rows, broken(...ids));
      assertEquals([report.conclusion, report.causes], ["unknown-cause", []]);
      const listed = report.evidence.map(({ metric }) => Number(/^check (\d+)/.exec(metric)?.[1]));
      assertEquals(listed, ids);
      assert(!/unlucky|No rule fired|No fault/i.test(report.note), report.note);
    }
  }
  // Beside a cause that explains others.
  const { conclusion, causes, evidence } = judge(HEALTHY, broken(4, 11));
  assertEquals([conclusion, causes[0]?.fault], ["fault", "group_shuffle"]);
  assertEquals(evidence.map(({ metric }) => metric.slice(0, 8)), ["check 4:"]);
  for (const { id } of INVARIANTS) {
    const { causes, evidence } = judge(unlucky, broken(id));
    const shown = [...evidence, ...causes.flatMap((cause) => cause.evidence)];
    assert(shown.some(({ metric }) => metric.startsWith(`check ${id}:`)), String(id));
  }
});

Deno.test("triage() asks no metric what the setting has none of", () => {
  const onPolicy = altered({
    clip_frac: constant(0),
    ratio_max: constant(1),
    approx_kl: constant(0),
  });
  const symptom = "nothing is ever clipped and the ratio is exactly 1 all run";
  const named = (checks: readonly RecordedCheck[]) =>
    judge(onPolicy, checks).causes.some(({ fault }) => fault === "stale_old_logp");
  const apart = verdicts({ 7: "not-applicable" });
  assert(!named(apart), "files without the reason");
  const report = judge(onPolicy, apart);
  assertEquals(
    report.unchecked.filter((one) => one.symptom === symptom),
    [{ verdict: "not-applicable", symptom, needs: ["check 7"] }],
  );
  const lacking = (lack: "setting" | "batch") =>
    apart.map((check) => check.id === 7 ? { ...check, lack } : check);
  assert(!named(lacking("setting")));
  // A first batch without a signal says nothing of the later ones.
  assert(named(lacking("batch")));
  const still = onPolicy.map((row) => ({ ...row, grad_norm: 0 }));
  const faults = judge(still, lacking("batch")).causes.map(({ fault }) => fault);
  assert(!faults.includes("stale_old_logp"), "nothing ever moved");
});

Deno.test("triage() names what was NaN, and in which step, whether a rule reads it or not", () => {
  const last = HEALTHY.at(-1)!.step!;
  const overflowing = (names: readonly string[], from: readonly Row[] = HEALTHY) =>
    from.map((row) =>
      row.step === last ? { ...row, ...Object.fromEntries(names.map((name) => [name, null])) } : row
    );
  const judgeAll = (rows: readonly Readonly<Record<string, unknown>>[]) =>
    triage({
      ...triageMetrics(rows, { source: "run" }),
      runFolder: "runs/a",
    }, KNOWLEDGE);
  for (const names of [["loss"], ["grad_norm"], ["grad_norm", "loss"]]) {
    const { conclusion, note, evidence, causes } = judgeAll(overflowing(names));
    assertEquals([conclusion, causes], ["not-finite", []]);
    assert(note.startsWith(`NaN or infinity in step ${last}: `), note);
    assertEquals(
      evidence.map(({ metric, step, value }) => ({ metric, step, value })).sort(),
      [
        ...names.map((metric) => ({ metric, step: last, value: null })),
      ].sort(),
    );
  }
  // What the steps before say is still said.
  const high = altered({ approx_kl: (kl) => 60 * kl });
  const report = judgeAll(overflowing(["loss"], high));
  assertEquals([report.conclusion, report.causes[0]?.fault], ["not-finite", "lr_high"]);
  assertThrows(() => judgeAll([{ step: 0, reward: null }]), UserError, "reward is null, which");
});

Deno.test("triage() joins the beliefs of several symptoms and keeps downstream ones below", () => {
  const rows = altered({
    logp_gap: constant(3),
    grad_norm: (norm) => 3 * norm,
    malformed: constant(3),
  });
  const { causes } = judge(rows, broken(1, 2, 5));
  assertEquals(causes.map(({ fault }) => fault), ["mask_shift", "lr_high", "mask_end_call"]);
  // 1 − (1 − 0.95)(1 − 0.85)(1 − 0.3), from the invariants, the gap and the gradient.
  assertAlmostEquals(causes[0]!.score, 1 - 0.05 * 0.15 * 0.7, 1e-12);
});

Deno.test("triage() names the run and its number of steps in the next step", () => {
  const { rows } = CASES["the reward rises with the share of a known exploit"]!;
  const [cause] = judge(rows!).causes;
  assertEquals(cause?.next, { kind: "evaluate", run: "runs/a", steps: 24, transcripts: 4 });
});

Deno.test("triage() shows the failure itself where there is no run to look into", () => {
  const nextOf = (rows: readonly Row[]) => {
    const metrics = metricSeries(rows, { names: TRIAGE_METRICS, source: "run" });
    return triage({ metrics }, KNOWLEDGE).causes[0]?.next;
  };
  const shifted = nextOf(altered({ logp_gap: constant(3) }));
  assertEquals(shifted, { kind: "check", fault: "mask_shift" });
  assertEquals(nextOf(altered({ malformed: constant(3) })), { kind: "make", fault: "lr_high" });
});

Deno.test("the rules and causes name invariants by keys that there are", () => {
  const named = [
    ...RULES.flatMap(({ tests, unless = [], asks }) => [
      ...[...tests, ...unless].flatMap((test) => "check" in test ? [test.check] : []),
      ...(asks === undefined ? [] : [asks]),
    ]),
    ...Object.values(CAUSES).flatMap(({ ruledOutBy }) => ruledOutBy),
  ];
  const keys = new Set(INVARIANTS.map(({ key }) => key));
  assertEquals(named.filter((key) => !keys.has(key)), []);
  assert(named.length > 30, "they name some");
});

Deno.test("triage() holds no run of another algorithm against the healthy runs of GRPO", () => {
  const rows = altered({ malformed: constant(3) });
  const judged = (algorithm?: string) =>
    triage({
      metrics: metricSeries(rows, { names: TRIAGE_METRICS, source: "run" }),
      algorithm,
    }, KNOWLEDGE);
  assertEquals(judged("grpo").causes[0]?.fault, "lr_high");
  assertEquals(judged().causes[0]?.fault, "lr_high", "nobody tells");
  const { causes, unchecked } = judged("reinforce");
  assertEquals(causes, []);
  const symptom = "the policy forgets how to write a call";
  assertEquals(unchecked.find((one) => one.symptom === symptom)?.verdict, "not-applicable");
});
