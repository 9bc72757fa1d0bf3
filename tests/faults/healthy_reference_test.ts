/** Tests of src/faults/healthy_reference.ts and src/diagnose/reference_runs.ts: what the pinned runs are compared over, and what they look like. */
import { assert, assertEquals } from "@std/assert";
import { healthyRange, summarizeHealthy } from "../../src/diagnose/reference_runs.ts";
import { healthyReference } from "../../src/faults/healthy_reference.ts";

const REFERENCE = healthyReference();

Deno.test("healthyRange() compares over the steps that the other run has", () => {
  const range = (lastStep: number) =>
    healthyRange(REFERENCE, { metric: "reward", statistic: "lastFour", lastStep })!;
  assert(range(7).high < range(23).low, "healthy runs earn more at the end than after eight steps");
  assertEquals(
    healthyRange(REFERENCE, { metric: "kl_ref", statistic: "first", lastStep: 23 }),
    undefined,
  );
});

Deno.test("summarizeHealthy() orders the statistics of each metric", () => {
  const summary = summarizeHealthy(REFERENCE);
  for (
    const name of ["reward", "reads", "entropy", "grad_norm", "logp_gap", "loss_tokens"] as const
  ) {
    const { smallest, median, largest } = summary.get(name)!;
    assert(smallest.low <= median.low && median.high <= largest.high, name);
  }
  assertEquals(summary.get("logp_gap")!.largest, { low: 0, high: 0 });
});
