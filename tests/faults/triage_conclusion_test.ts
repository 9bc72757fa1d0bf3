/** Tests of what triage concludes where no cause fits, the setting has none of it, or a run is unlike the healthy ones. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { LIKE_THE_HEALTHY_RUNS } from "../../src/faults/healthy_reference.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { triageMetrics } from "../../src/faults/run_metrics.ts";
import type { LaterCheck, RecordedCheck, TestedRun } from "../../src/diagnose/triage/evaluate.ts";
import { triage } from "../../src/diagnose/triage/triage.ts";
import {
  altered,
  broken,
  CASES,
  constant,
  HEALTHY,
  judge,
  KNOWLEDGE,
  type Row,
  verdicts,
} from "./triage_cases.ts";

Deno.test("triage() clears no suspect by a check that leaves out the run's own term", () => {
  const { rows } = CASES["entropy falls ahead of the reward, and exploration ends"]!;
  const early = verdicts().filter(({ id }) => id < 12);
  const named = (checks: readonly RecordedCheck[], settings?: Readonly<Record<string, number>>) =>
    judge(rows!, checks, { settings }).causes.some(({ fault }) => fault === "entropy_sign");
  // Check 10 makes the coefficient 0: of one that is asked for it cannot see the sign. Check 15 can.
  assert(!named(early, { entropyCoef: 0 }));
  assert(named(early), "nobody tells");
  assert(!named(verdicts()), "check 15 holds");
  const { checks, told } = CASES[
    "the entropy bonus pulls with its full size but the wrong sign"
  ]!;
  assertEquals(checks!.find(({ id }) => id === 10)?.verdict, "holds");
  assertEquals(judge(HEALTHY, checks, told).causes[0]?.fault, "entropy_sign");
});

Deno.test("triage() reports symptoms whose known causes are all ruled out", () => {
  const report = judge(altered({ logp_gap: constant(3) }), verdicts());
  assertEquals([report.conclusion, report.causes.length], ["unknown-cause", 0]);
  assertEquals(report.evidence.map(({ metric }) => metric), ["logp_gap"]);
});

Deno.test("triage() says of a run that earns too little that luck and an unseen fault look alike", () => {
  // No reads, so nothing to reward; entropy and update sizes as in a healthy run.
  const rows = altered({ reads: constant(0.05), reward: constant(0.19), eval_pass: constant(0.2) });
  const report = judge(rows, verdicts());
  assertEquals([report.conclusion, report.causes, report.unknown], ["falls-short", [], 0]);
  assertEquals(report.evidence.map(({ metric }) => metric), ["reward"]);
  assert(/another seed/.test(report.note) && !/unlucky|No fault/.test(report.note), report.note);
  // The same run with a violated invariant is faulty.
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
      assert(!/unlucky|another seed|No rule fired|No fault/i.test(report.note), report.note);
    }
  }
  // A cause that explains one of two is none.
  const { conclusion, causes, evidence, unknown } = judge(HEALTHY, broken(4, 11));
  assertEquals([conclusion, causes, unknown], ["unknown-cause", [], 1]);
  assertEquals(evidence.map(({ metric }) => metric.slice(0, 8)), ["check 4:", "check 11"]);
  // One that explains all of them lists also those that no rule of it reads.
  const shifted = judge(HEALTHY, broken(1, 2, 5));
  assertEquals(shifted.conclusion, "fault");
  const listed = shifted.causes[0]!.evidence.map(({ metric }) => metric.slice(0, 8));
  assertEquals(listed, ["check 1:", "check 2:", "check 5:"]);
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
  const symptom = "nothing is ever clipped and the ratio is exactly 1 throughout";
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

Deno.test("triage() lists a check that is violated at a later step alone, with its step", () => {
  const later = [4, 8, 12].map((step): LaterCheck => ({
    ...verdicts({ 4: step > 4 ? "violated" : "holds" })[3]!,
    step,
  }));
  const report = judge(HEALTHY, verdicts(), { laterChecks: later });
  assertEquals([report.conclusion, report.causes], ["unknown-cause", []]);
  assertEquals(report.evidence.map(({ metric, step }) => [metric.slice(0, 8), step]), [
    ["check 4:", 8],
  ]);
  assert(report.note.includes("the advantages (check 4)"), report.note);
});

Deno.test("triage() holds no run of another setting against the healthy runs, and says what they need", () => {
  const rows = altered({ malformed: constant(3) });
  const told: TestedRun["settings"] = { lr: 0.01 };
  const judged = (others: Partial<TestedRun>) =>
    judge(rows, undefined, { algorithm: "grpo", settings: told, ...others });
  const like = judged({});
  assertEquals([like.causes[0]?.fault, like.notCompared], ["lr_high", []]);
  const symptom = "the policy forgets how to write a call";
  const others: readonly (readonly [Partial<TestedRun>, string])[] = [
    [{ algorithm: "reinforce" }, "the algorithm grpo"],
    [{ settings: { ...told, preset: "chapter6" } }, "preset rl"],
    [{ settings: { ...told, base: "rl:0" } }, "the base agent rl:2"],
    [{ settings: { ...told, stepsPerUpdate: 4 } }, "2 optimizer steps per batch"],
    [{ settings: { ...told, aggregation: "constant" } }, "aggregation token_mean"],
  ];
  for (const [other, need] of others) {
    const { conclusion, causes, unchecked, notCompared } = judged(other);
    assertEquals([conclusion, causes, notCompared], ["nothing-fired", [], [need]]);
    assertEquals(unchecked.find((one) => one.symptom === symptom)?.verdict, "not-applicable");
  }
});

Deno.test("triage() names no setting that the run is told not to have, and believes less where nobody tells", () => {
  const like = Object.fromEntries(
    (LIKE_THE_HEALTHY_RUNS.settings ?? []).flatMap((need) =>
      "is" in need ? [[need.setting, need.is] as const] : []
    ),
  );
  const score = (symptom: string, own?: TestedRun["settings"]) => {
    const told = own && {
      producer: "agentrl",
      algorithm: "grpo",
      settings: { ...like, ...own },
    };
    const { causes } = judge(CASES[symptom]!.rows!, undefined, told);
    return causes.find(({ fault }) => fault === CASES[symptom]!.first)?.score ?? 0;
  };
  const cases = [
    ["the first update goes much too far", { lr: 0.01 }, { lr: 0.001 }],
    [
      "failing episodes grow longer while the reward does not fall",
      { aggregation: "seq_mean_token_mean" },
      { aggregation: "token_mean" },
    ],
    [
      "what is rewarded is not what passes the hidden tests",
      { reward: "public" },
      { reward: "hidden" },
    ],
    [
      "the reward rises and the held-out pass rate does not",
      { reward: "public" },
      { reward: "hidden" },
    ],
    ["the KL to the reference is exactly 0 throughout", { klCoef: 0.1 }, { klCoef: 0 }],
    [
      "nothing is ever clipped and the ratio is exactly 1 throughout",
      { stepsPerUpdate: 2 },
      { stepsPerUpdate: 1 },
    ],
  ] as const;
  for (const [symptom, having, lacking] of cases) {
    const [told, untold] = [score(symptom, having), score(symptom)];
    assert(untold > 0 && untold < told, `${symptom}: ${untold}, ${told}`);
    assertEquals(score(symptom, lacking), 0, symptom);
  }
});
