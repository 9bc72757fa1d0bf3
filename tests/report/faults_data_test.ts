/** Tests of what the catalogue's pairs say: what the reward hides. */
import { isFaultsFolder, readFaults } from "../../src/report/files/faults.ts";
import { assertEquals } from "@std/assert";
import type { Point } from "../../src/report/downsample.ts";
import { failurePairs, faultsOfLab, judgeReward, lastMean } from "../../src/report/faults_data.ts";
import type { RunData } from "../../src/report/run_data.ts";
import { withFolder } from "../files/with_folder.ts";
import { writeFaults } from "./fixture.ts";

function runOf(rewards: readonly number[]): RunData {
  return {
    name: "",
    path: "",
    settings: undefined,
    stepCount: rewards.length,
    metrics: new Map([["reward", rewards.map((y, x): Point => [x, y])]]),
    checks: [],
    episodes: [],
    checkpoints: [],
    recorded: [],
  };
}

const pairOf = (faulty: readonly number[], control: readonly number[]) => ({
  name: "mask_shift" as const,
  controlName: "healthy" as const,
  metric: "logp_gap" as const,
  faulty: runOf(faulty),
  control: runOf(control),
});

Deno.test("judgeReward() tells a hidden failure from one that slows, that shows and that flatters", () => {
  // Changes of ±0.1 from step to step: a noise of one step of 0.1 / √2 and a bit, so 0.2 is beyond twice of it.
  const healthy = [0.2, 0.3, 0.3, 0.4, 0.5, 0.6, 0.5, 0.6, 0.7, 0.8, 0.7, 0.8];
  const shifted = (by: number) => healthy.map((reward) => reward + by);
  const verdictOf = (faulty: readonly number[]) => judgeReward(pairOf(faulty, healthy)).verdict;
  assertEquals(verdictOf(shifted(0.02)), "hidden");
  assertEquals(verdictOf(shifted(-0.02)), "hidden");
  assertEquals(verdictOf(shifted(0.4)), "better");
  assertEquals(verdictOf(healthy.map((reward) => reward * 0.65)), "slower");
  assertEquals(verdictOf(healthy.map(() => 0.2)), "worse");
  // A shorter run is compared with the same steps of its control.
  assertEquals(verdictOf(healthy.slice(0, 4)), "hidden");
});

Deno.test("lastMean() is the mean of the last four steps, up to a step", () => {
  const run = runOf([1, 2, 3, 4, 5, 60]);
  assertEquals([lastMean(run, "reward"), lastMean(run, "reward", 4)], [18, 3.5]);
  assertEquals(lastMean(run, "reads"), NaN);
});

Deno.test("readFaults() pairs failures with their controls, as far as they are there", async () => {
  await withFolder((folder) => {
    assertEquals(isFaultsFolder(folder), false);
    writeFaults(folder);
    assertEquals(isFaultsFolder(folder), true);
    const pairs = failurePairs(readFaults(folder));
    assertEquals(
      pairs.map(({ name, controlName, metric }) => [name, controlName, metric]),
      [["mask_shift", "healthy", "logp_gap"], ["sign_flip", "healthy", "turns"]],
    );
    assertEquals(pairs.map((pair) => judgeReward(pair).verdict), ["hidden", "worse"]);
  });
});

Deno.test("faultsOfLab() pairs the runs that the lab's catalogue keeps, and refuses other data", () => {
  const rows = (
    reward: number,
  ) => [{ step: 0, reward, logp_gap: 3 }, { step: 1, reward, logp_gap: 3 }];
  const data = {
    seed: 4,
    runs: { mask_shift: rows(0.25), healthy: rows(0.5), "<b>": rows(1) },
    signatures: [{ run: "healthy", claim: "gap 0", measured: "0", holds: true }],
  };
  const faults = faultsOfLab(data, "catalogue.json");
  assertEquals(faults?.seed, 4);
  assertEquals([...faults?.runs.keys() ?? []], ["healthy", "mask_shift"]);
  assertEquals(faults?.signatures.length, 1);
  const [pair] = failurePairs(faults!);
  assertEquals([pair!.name, lastMean(pair!.faulty, "reward")], ["mask_shift", 0.25]);
  assertEquals(lastMean(pair!.control, "reward"), 0.5);
  assertEquals(faultsOfLab({ seed: 4, runs: { healthy: [] } }, "catalogue.json"), undefined);
  assertEquals(faultsOfLab({ rows: [] }, "catalogue.json"), undefined);
});
