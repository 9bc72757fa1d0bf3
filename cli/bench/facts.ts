/** What every benchmark says about where it ran. */
import { cpus } from "node:os";
import type { Gpu } from "../../src/gpu/device.ts";
import type { Peak } from "../../src/bench/peak.ts";
import type { ScoreShape } from "../../src/bench/score.ts";
import { adapterName } from "../gpu.ts";

/** The flags of `agentrl bench` that suites read. */
export interface BenchFlags {
  readonly rounds: number;
  readonly peer: string;
  /** Of `score` alone, as `tokens` and `weights` are. */
  readonly shape: ScoreShape;
  readonly tokens: number;
  readonly weights: "f32" | "bf16";
  /** Whether the largest sizes are left out, because a CPU would take minutes for them (default false). */
  readonly isShort?: boolean;
}

/** The machine of a measurement; times of two machines are not compared. */
export interface MachineFacts {
  readonly adapter: string;
  readonly cpu: string;
}

/** The machine as documents name it. */
export function machineFacts(gpu: Gpu): MachineFacts {
  const list = cpus();
  return {
    adapter: adapterName(gpu),
    cpu: `${list[0]?.model.trim()}, ${list.length} threads`,
  };
}

/** The machine as the first rows of a table of facts. */
export function machineRows({ adapter, cpu }: MachineFacts): (readonly [string, string])[] {
  return [["adapter", adapter], ["CPU", cpu]];
}

/** A time for people: five characters are enough to compare. */
export function shortMs(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms.toPrecision(3);
}

/** The peaks that shares of the roofline refer to, as a row of a table of facts. */
export function peakRow({ gflops, gbPerSecond }: Peak): readonly [string, string] {
  return [
    "peak",
    `${gflops.toFixed(1)} GFLOP/s from registers, ${gbPerSecond.toFixed(1)} GB/s read, ` +
    "measured in every round; the best counts",
  ];
}

/** How often things were measured, as a row of a table of facts. */
export function roundsRow(rounds: number): readonly [string, string] {
  return ["rounds", `${rounds}, interleaved; medians`];
}

/** A share for people: `12 %`. */
export function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/** A count for people: `4,096`. */
export function grouped(count: number): string {
  return Math.round(count).toLocaleString("en");
}
