/** Tests of src/faults/replay.ts: which steps are recorded, and how a replaced stage is named. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { MetricsRow } from "../../src/rl/metrics.ts";
import {
  compareRows,
  mayRecord,
  parseReplacement,
  recordingReasons,
  replaceStage,
  SPIKE_METRICS,
} from "../../src/faults/replay.ts";
import { HEALTHY_STAGES, recomputedOldLogp } from "../../src/rl/stages.ts";

/** A row whose spike metrics are all 1, but for `values`. */
function row(step: number, values: Partial<MetricsRow> = {}): MetricsRow {
  const calm = Object.fromEntries(SPIKE_METRICS.map((name) => [name, 1]));
  return { step, ...calm, ...values } as MetricsRow;
}

const CALM = [row(0), row(1), row(2), row(3)];

Deno.test("recordingReasons() selects every k-th step", () => {
  const config = { recordEvery: 3, recordSpikeFactor: 0 };
  const selected = [0, 1, 2, 3, 4, 5, 6].filter((step) =>
    recordingReasons(row(step), { history: [], config }).length > 0
  );
  assertEquals(selected, [0, 3, 6]);
  assertEquals([0, 1, 3].map((step) => mayRecord(step, config)), [true, false, true]);
  const off = { recordEvery: 0, recordSpikeFactor: 0 };
  assertEquals(recordingReasons(row(4, { grad_norm: 1e9 }), { history: CALM, config: off }), []);
  assertEquals(mayRecord(0, off), false);
});

Deno.test("recordingReasons() selects a metric above a multiple of its running median", () => {
  const config = { recordEvery: 0, recordSpikeFactor: 3 };
  const reasons = (values: Partial<MetricsRow>, history = CALM) =>
    recordingReasons(row(4, values), { history, config });
  assertEquals(reasons({ grad_norm: 3 }), [], "exactly three times is not an excess");
  assertEquals(reasons({ grad_norm: 3.01 }), [
    "grad_norm 3.01 exceeds 3 times its running median 1",
  ]);
  assertEquals(reasons({ grad_norm: 9 }, CALM.slice(1)), [], "three rows make no median");
  // One earlier spike moves a mean, not a median.
  const spiky = [...CALM, row(4, { grad_norm: 1000 })];
  assertEquals(reasons({ grad_norm: 4 }, spiky).length, 1);
  assertEquals(reasons({ grad_norm: NaN }).length, 1, "no number is a spike");
  assertEquals(mayRecord(1, config), true, "any step may spike");
});

Deno.test("compareRows() finds a difference in the last bit and a missing metric", () => {
  assertEquals(compareRows(row(1), row(1)), []);
  const [difference] = compareRows(row(1), row(1, { grad_norm: 1 + Number.EPSILON }));
  assertEquals(difference, {
    metric: "grad_norm",
    recorded: 1,
    replayed: 1 + Number.EPSILON,
  });
  assertEquals(compareRows(row(1, { kl_ref: 0 }), row(1)).map(({ metric }) => metric), ["kl_ref"]);
  assertEquals(compareRows(row(1, { loss: 0 }), row(1, { loss: -0 })).length, 1, "-0 is not 0");
});

Deno.test("parseReplacement() reads STAGE=FAULT and refuses what is none", () => {
  assertEquals(parseReplacement("lossMask=mask_shift"), { stage: "lossMask", fault: "mask_shift" });
  assertEquals(parseReplacement("split=healthy"), { stage: "split", fault: "healthy" });
  const refused: readonly (readonly [string, string])[] = [
    ["lossmask=mask_shift", 'did you mean "lossMask"?'],
    ["lossMask", '"" is not a fault'],
    ["lossMask=mask_shif", 'did you mean "mask_shift"?'],
    ["advantages=mask_shift", "mask_shift changes lossMask"],
    ["advantages=lr_high", "leaves every stage as it is"],
  ];
  for (const [text, sentence] of refused) {
    assertThrows(() => parseReplacement(text), UserError, sentence);
  }
});

Deno.test("replaceStage() changes one stage and recomputes what the sampler recorded", () => {
  const stages = replaceStage(HEALTHY_STAGES, { stage: "advantages", fault: "sign_flip" });
  assertEquals(stages.oldLogp, recomputedOldLogp);
  const changed = (Object.keys(HEALTHY_STAGES) as (keyof typeof HEALTHY_STAGES)[])
    .filter((name) => stages[name] !== HEALTHY_STAGES[name]);
  assertEquals(changed, ["oldLogp", "advantages"]);
});
