/** Tests of the knowledge of our own faults (src/faults/triage_rules.ts): each rule fires on its symptom, stays quiet on a healthy run, and says what it lacks. */
import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { FAULT_NAMES } from "../../src/faults/faults.ts";
import { CHECK_AREAS } from "../../src/diagnose/triage/areas.ts";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { metricSeries } from "../../src/diagnose/metric_series.ts";
import { triage } from "../../src/diagnose/triage/triage.ts";
import { RULES, TRIAGE_METRICS } from "../../src/faults/triage_rules.ts";
import { CAUSES } from "../../src/faults/triage_causes.ts";
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

Deno.test("triage() has a case for every rule, and every failure is a cause of some rule", () => {
  assertEquals(Object.keys(CASES).sort(), RULES.map(({ symptom }) => symptom).sort());
  assertEquals(Object.keys(CAUSES).sort(), [...FAULT_NAMES].sort());
  const named = new Set(RULES.flatMap(({ causes }) => Object.keys(causes)));
  assertEquals(FAULT_NAMES.filter((fault) => !named.has(fault)), []);
});

for (const [symptom, { rows = HEALTHY, checks, later, told, first }] of Object.entries(CASES)) {
  Deno.test(`triage() ranks ${first ?? "nothing"} first when ${symptom}`, () => {
    const { conclusion, causes, unknown, evidence: seen } = judge(rows, checks, {
      laterChecks: later,
      ...told,
    });
    if (first === undefined) {
      assertEquals([conclusion, causes, unknown], ["unknown-cause", [], 1]);
      assert(seen.length > 0 && seen.every((item) => item.symptom === symptom));
      return;
    }
    assertEquals(conclusion, "fault");
    const [cause] = causes;
    assertEquals(cause?.fault, first);
    const evidence = cause!.evidence.filter((item) => item.symptom === symptom);
    assert(evidence.length > 0, `its evidence: ${JSON.stringify(cause)}`);
    for (const { metric, step, value, bound } of evidence) {
      assert(metric !== "" && Number.isInteger(step), metric);
      assert(typeof value === "number" && Number.isFinite(bound), metric);
    }
    assert(cause!.score > 0 && cause!.score < 0.9, String(cause!.score));
    const believed = causes.reduce((sum, { score }) => sum + score, unknown);
    assertAlmostEquals(believed, 1, 1e-12);
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
  // Nothing was checked at later steps, and without a KL term there is no KL to the reference.
  assertEquals(report.unchecked.map(({ verdict, needs }) => [verdict, ...needs]), [
    ["not-checkable", "check 2 at later steps (checkEvery)"],
    ["not-checkable", "kl_ref"],
    ["not-checkable", "kl_ref/approx_kl"],
  ]);
  assertEquals(report.unknown, 0);
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
  assert(needs.includes("more steps of length_fail"), needs.join());
  assert(judge(rows.slice(0, 8)).causes.some(({ fault }) => fault === "length_bias"));
});

Deno.test("triage() rules a failure out when the invariant that it cannot pass holds", () => {
  const { rows } = CASES["entropy falls ahead of the reward, and exploration ends"]!;
  assertEquals(judge(rows!).causes[0]?.fault, "entropy_sign");
  const checked = judge(rows!, verdicts(), { settings: { entropyCoef: 0 } });
  assertEquals([checked.conclusion, checked.causes, checked.unknown], ["unknown-cause", [], 1]);
});

Deno.test("triage() believes a cause as its strongest symptom does, and keeps downstream ones below", () => {
  const rows = altered({
    logp_gap: constant(3),
    grad_norm: (norm) => 3 * norm,
    malformed: constant(3),
  });
  const downstream = judge(rows).causes.map(({ fault }) => fault);
  assertEquals(downstream, ["mask_shift", "lr_high"]);
  const { causes } = judge(rows, broken(1, 2, 5));
  assertEquals(causes.map(({ fault }) => fault), ["mask_shift"], "it explains all three");
  const onPadding = judge(rows, broken(1, 2, 5, 15)).causes;
  assertEquals(onPadding.map(({ fault }) => fault), ["mask_shift"], "padding has no gradient");
  // The invariants alone make the first so likely: the gap and the gradient follow from the same fault.
  const alone = judge(HEALTHY, broken(1, 2, 5)).causes;
  assertEquals(causes[0]!.score, alone[0]!.score);
  assert(causes[0]!.evidence.length > alone[0]!.evidence.length, "they are evidence all the same");
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
    ...Object.values(CAUSES).flatMap(({ ruledOutBy, explains = [] }) => [
      ...ruledOutBy.map((clearing) => typeof clearing === "string" ? clearing : clearing.check),
      ...explains,
    ]),
  ];
  const keys = Object.keys(CHECK_AREAS);
  assertEquals(named.filter((key) => !keys.includes(key)), []);
  assertEquals(INVARIANTS.filter(({ key }) => !keys.includes(key)), [], "each has an area");
  assert(named.length > 30, "they name some");
});
