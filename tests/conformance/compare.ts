/** What must be equal between drivers and compilers, and what need only be near. */
import { largestDifference } from "../../src/core/vectors.ts";
import { UPDATE_TOLERANCE } from "../../src/bench/update_check.ts";
import type { Conformance, ShortConformance } from "./measure.ts";
import type { FusedConformance } from "./measure_fused.ts";

/** Entropies and log-probs, in nats, and gradient norms, relative to them, between drivers, whose exp and log differ in the last places. */
export const DRIVER_TOLERANCE = { entropies: 2e-5, gradientNorms: 1e-4 } as const;

/** The crossings that can be had on one machine. */
export interface Crossings<Measured> {
  /** Deno's compiler (naga) on the machine's driver. */
  readonly machine: Measured;
  /** The same compiler on the driver that Chromium brings along. */
  readonly otherDriver: Measured;
  /** Chromium's compiler (Tint) on that driver. */
  readonly otherCompiler: Measured;
}

/** One adapter by itself. */
export function ownFaults(
  { adapter, layout, selfTestFailures, episodes }: ShortConformance,
): string[] {
  const faults = selfTestFailures.map((name) => `the self-test fails: ${name}`);
  if (layout !== "texture") faults.push(`the layout is a GPU's: ${layout}`);
  if (episodes.tokens === 0) faults.push("no token was sampled");
  if (episodes.unlikeForward > 0) {
    faults.push(`${episodes.unlikeForward} log-probs of the sampler are not the forward's`);
  }
  if (episodes.unlikeAlone > 0) {
    faults.push(`${episodes.unlikeAlone} log-probs depend on the batch around them`);
  }
  return faults.map((fault) => `${adapter}: ${fault}`);
}

/** Its update and its training by themselves. */
export function trainingFaults(
  { adapter, update, holdingInvariants, violatedInvariants, training }: Conformance,
): string[] {
  const faults = violatedInvariants.map((name) => `violated: ${name}`);
  if (holdingInvariants === 0) faults.push("no invariant was checked");
  for (const [name, tolerance] of Object.entries(UPDATE_TOLERANCE)) {
    const error = update[name as keyof typeof update];
    if (!(error <= tolerance)) faults.push(`${name} is off float64 by ${error}`);
  }
  if (training.largestGap !== 0) faults.push(`logp_gap is ${training.largestGap}`);
  return faults.map((fault) => `${adapter}: ${fault}`);
}

/** Two compilers on one driver: the same bits. */
export function compilerFaults(a: ShortConformance, b: ShortConformance): string[] {
  return (["tokens", "idsHash", "sampledHash", "forwardHash"] as const)
    .filter((name) => a.episodes[name] !== b.episodes[name])
    .map((name) => `two compilers differ: ${name} ${a.episodes[name]}, ${b.episodes[name]}`);
}

/** Two drivers: the same tokens, and numbers as near as their exp and log. */
export function driverFaults(a: ShortConformance, b: ShortConformance): string[] {
  if (a.episodes.idsHash !== b.episodes.idsHash) return ["two drivers draw other tokens"];
  const apart = largestDifference(a.episodes.entropies, b.episodes.entropies);
  return apart <= DRIVER_TOLERANCE.entropies ? [] : [`entropies of two drivers are ${apart} apart`];
}

/** The largest relative distance of gradient norms. */
export function normsApart(a: Conformance, b: Conformance): number {
  return largestDifference(
    a.training.gradientNorms.map((norm, i) => norm / b.training.gradientNorms[i]),
    b.training.gradientNorms.map(() => 1),
  );
}

/** Everything that is amiss in a whole measurement. */
export function wholeFaults(found: Crossings<Conformance>): string[] {
  const { machine, otherDriver, otherCompiler } = found;
  const all = [machine, otherDriver, otherCompiler];
  const faults = [
    ...all.flatMap((one) => [...ownFaults(one), ...trainingFaults(one)]),
    ...compilerFaults(otherDriver, otherCompiler),
    ...driverFaults(machine, otherDriver),
  ];
  if (otherDriver.decoder.hash !== otherCompiler.decoder.hash) {
    faults.push("two compilers differ: scores of a decoder");
  }
  const scoresApart = largestDifference(machine.decoder.scores, otherDriver.decoder.scores);
  if (!(scoresApart <= DRIVER_TOLERANCE.entropies)) {
    faults.push(`scores of a decoder on two drivers are ${scoresApart} apart`);
  }
  if (otherDriver.training.weightsHash !== otherCompiler.training.weightsHash) {
    faults.push("two compilers differ: weights after the training");
  }
  if (machine.training.rewards.join() !== otherDriver.training.rewards.join()) {
    faults.push("two drivers differ: rewards");
  }
  const apart = normsApart(machine, otherDriver);
  if (!(apart <= DRIVER_TOLERANCE.gradientNorms)) {
    faults.push(`gradient norms of two drivers are ${apart} apart`);
  }
  return faults;
}

/** With an fma that rounds once: the same bits in sampler and trainer, and a difference where one of them rounds twice. */
export function fusedFaults({ fmaRounds, tokens, unlike, apart }: FusedConformance): string[] {
  const faults = fmaRounds === "once" ? [] : [`the self-test says that it rounds ${fmaRounds}`];
  if (tokens === 0) faults.push("no token was sampled");
  if (unlike > 0) faults.push(`${unlike} log-probs of the sampler are not the trainer's`);
  if (apart.unlike === 0) faults.push("nothing rests on how fma rounds");
  if (!(apart.largest < 1e-5)) faults.push(`one side alone makes ${apart.largest} nats`);
  return faults.map((fault) => `with a fused fma: ${fault}`);
}
