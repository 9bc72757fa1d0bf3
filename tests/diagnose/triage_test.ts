/** Tests of src/diagnose/triage: anybody's causes and rules, what they need, and the words for what could not be checked. */
import { assertAlmostEquals, assertEquals, assertThrows } from "@std/assert";
import { metricSeries } from "../../src/diagnose/metric_series.ts";
import type { RecordedCheck, TestedRun } from "../../src/diagnose/triage/evaluate.ts";
import type { TriageKnowledge, TriageRule } from "../../src/diagnose/triage/knowledge.ts";
import { triage } from "../../src/diagnose/triage/triage.ts";

const NAMES = ["clip_ratio", "kl", "score"];

function metricsOf(rows: readonly Readonly<Record<string, number>>[]) {
  return metricSeries(rows, { names: NAMES, source: "run" });
}

const flat = (row: Readonly<Record<string, number>>) => Array.from({ length: 8 }, () => row);

const NEVER_CLIPPED: TriageRule = {
  tier: "consistency",
  symptom: "nothing is ever clipped",
  needs: {
    producers: ["mine"],
    algorithms: ["ppo", "grpo"],
    settings: [{ setting: "epochs", above: 1, words: "more than one epoch" }],
  },
  tests: [{
    metric: "clip_ratio",
    statistic: "largest",
    relation: "<=",
    bound: { value: 0, from: "a clip acts now and then" },
  }],
  causes: { detached_old_logp: 0.8, tiny_rate: 0.5 },
};

const KL_HIGH: TriageRule = {
  tier: "reference",
  symptom: "the KL is three times that of a healthy run",
  tests: [
    {
      metric: "kl",
      statistic: "first",
      relation: ">=",
      bound: { healthy: "high", times: 3, from: "three times the largest of my healthy runs" },
    },
    { check: "reference_stays_behind", verdict: "holds" },
  ],
  causes: { tiny_rate: 0.5, wrong_reference: 0.5 },
};

const KNOWLEDGE: TriageKnowledge = {
  rules: [NEVER_CLIPPED, KL_HIGH],
  causes: {
    detached_old_logp: {
      summary: "old log-probs follow the policy",
      kind: "code",
      ruledOutBy: ["old_logp_frozen"],
      advice: { kind: "say", sentence: "Log old_logp before and after the first step." },
    },
    tiny_rate: {
      summary: "the learning rate is far too small",
      kind: "configuration",
      ruledOutBy: [],
      advice: { kind: "train", suffix: "faster", config: { learning_rate: 1e-5 } },
    },
    wrong_reference: {
      summary: "the reference is not the start",
      kind: "code",
      ruledOutBy: [],
      advice: { kind: "replay", step: 0, stage: "load_reference" },
    },
  },
  reference: [metricsOf(flat({ clip_ratio: 0.01, kl: 0.1, score: 1 }))],
};

const holding = (...ids: readonly number[]): RecordedCheck[] =>
  ids.map((id) => ({ id, name: `check ${id}`, value: 1, bound: 0, verdict: "holds" }));

const STILL = metricsOf(flat({ clip_ratio: 0, kl: 0.4 }));

Deno.test("triage() judges by causes, rules and healthy runs that come in as data", () => {
  const told = { producer: "mine", algorithm: "ppo", settings: { epochs: 2 } };
  const run = { metrics: STILL, checks: holding(9), runFolder: "runs/x/", ...told };
  const { conclusion, causes, unchecked, unknown } = triage(run, KNOWLEDGE);
  assertEquals([conclusion, unchecked], ["fault", []]);
  assertEquals(causes.map(({ fault, next }) => ({ fault, next })), [
    {
      fault: "detached_old_logp",
      next: { kind: "say", sentence: "Log old_logp before and after the first step." },
    },
    {
      fault: "tiny_rate",
      next: { kind: "train", out: "runs/x-faster", config: { learning_rate: 1e-5 } },
    },
    {
      fault: "wrong_reference",
      next: {
        kind: "replay",
        run: "runs/x/",
        step: 0,
        replace: { stage: "load_reference", fault: "wrong_reference" },
      },
    },
  ]);
  // Each takes its share of what those before it leave; two symptoms of one cause are no more than the stronger.
  const beliefs = [...causes.map(({ score }) => score), unknown];
  const expected = [0.8, 0.2 * 0.5, 0.1 * 0.5, 0.05];
  beliefs.forEach((belief, i) => assertAlmostEquals(belief, expected[i]!, 1e-12));
  assertEquals(causes[2]!.evidence[0]!.bound, 3 * 0.1);
  // Where nobody tells that the rule's needs are met, it is believed half as much.
  const untold = triage({ metrics: STILL, checks: holding(9) }, KNOWLEDGE);
  assertEquals(untold.causes.map(({ fault, score }) => [fault, score]), [
    ["tiny_rate", 0.5],
    ["wrong_reference", 0.25],
    ["detached_old_logp", 0.1],
  ]);
  // An invariant that the cause cannot pass, by its key.
  const cleared = triage({ ...run, checks: holding(7, 9) }, KNOWLEDGE);
  assertEquals(cleared.causes.map(({ fault }) => fault), ["tiny_rate", "wrong_reference"]);
});

Deno.test("triage() does not ask a rule whose need the run is told not to meet, and says so", () => {
  const told: readonly (readonly [Partial<TestedRun>, string])[] = [
    [{ producer: "theirs" }, "a run of mine"],
    [{ producer: "mine", algorithm: "reinforce" }, "the algorithm ppo or grpo"],
    [{ settings: { epochs: 1 } }, "more than one epoch"],
  ];
  for (const [facts, need] of told) {
    const { causes, unchecked } = triage({ metrics: STILL, ...facts }, KNOWLEDGE);
    assertEquals(causes, []);
    assertEquals(unchecked[0], {
      verdict: "not-applicable",
      symptom: NEVER_CLIPPED.symptom,
      needs: [need],
    });
  }
  const met = { producer: "mine", algorithm: "ppo", settings: { epochs: 2 } };
  assertEquals(triage({ metrics: STILL, ...met }, KNOWLEDGE).causes.length, 2);
});

Deno.test("triage() tells what a record lacks from what a setting has none of", () => {
  const of = (run: Partial<TestedRun>) =>
    triage({ metrics: STILL, ...run }, KNOWLEDGE).unchecked.filter(({ symptom }) =>
      symptom === KL_HIGH.symptom
    ).map(({ verdict, needs }) => [verdict, ...needs]);
  assertEquals(of({}), [["not-checkable", "check 9"]]);
  const [check] = holding(9);
  const verdicts = (verdict: RecordedCheck["verdict"]) => [{ ...check!, value: null, verdict }];
  assertEquals(of({ checks: verdicts("not-applicable") }), [["not-applicable", "check 9"]]);
  assertEquals(of({ checks: verdicts("not-checkable") }), [["not-checkable", "check 9"]]);
  const metrics = metricsOf(flat({ clip_ratio: 0 }));
  assertEquals(of({ metrics, checks: holding(9) }), [["not-checkable", "kl"]]);
  const alone = triage({ metrics: STILL, checks: holding(9) }, { ...KNOWLEDGE, reference: [] });
  assertEquals(alone.unchecked[0]?.needs, ["kl of a healthy run over so many steps"]);
});

Deno.test("triage() refuses a rule that names a cause without a record", () => {
  const rules = [{ ...NEVER_CLIPPED, causes: { toString: 0.5 } }];
  assertThrows(
    () => triage({ metrics: STILL }, { ...KNOWLEDGE, rules }),
    RangeError,
    "A rule names the cause toString",
  );
});
