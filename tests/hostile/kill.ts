/**
 * Kills training runs and fails their disk at every file operation, and kills child processes at random moments; each run must go on
 * to the bits of one that was left alone. Usage: deno task kill [--minutes=N] [--children=N]
 */
import { UserError } from "../../src/core/errors.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { exists, namesIn } from "../../src/files/paths.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import type { TrainingResult } from "../../src/run/training_run.ts";
import { golden, LAUNCHER } from "../e2e/command_line.ts";
import { resumeRun, SMALL_SETS, smallSettings, startRun } from "../run/small_run.ts";
import { type FaultKind, Killed, withFault } from "./faulty_disk.ts";

const STEPS = 4;

/** Every file that a run writes is written here: records, episodes, evaluations, checkpoints in the middle. */
const SETS = ["recordEvery=1", "episodesEvery=1", "evalEvery=0"];

/** What was tried, by kind. */
export interface Tally {
  tried: number;
  /** Ended with other bits or rows than an undisturbed run. */
  different: number;
  /** Left a temporary file after the run had gone on. */
  leftovers: number;
  /** Ended otherwise than by the kill, or by a sentence with exit code 4. */
  traces: number;
  /** How many there are to try; more than were tried where the time was up. */
  readonly planned: number;
  /** Where something went wrong. */
  readonly notes: string[];
}

/** An undisturbed run beside which the others are held. */
export interface Yardstick {
  readonly commands: Commands;
  readonly folder: string;
  readonly path: string;
  readonly result: TrainingResult;
  /** File operations until its first step is done, and of its steps when it is resumed from step 0. */
  readonly startOperations: number;
  readonly stepOperations: number;
}

const newTally = (planned: number): Tally => (
  { planned, tried: 0, different: 0, leftovers: 0, traces: 0, notes: [] }
);

/** Makes the run that is left alone, and counts its file operations. */
export async function makeYardstick(commands: Commands, folder: string): Promise<Yardstick> {
  const path = `${folder}/whole`;
  const settings = smallSettings(STEPS, SETS);
  const countOnly = { at: Infinity, kind: "kill before" } as const;
  const whole = await withFault(
    () => startRun(commands, { path, settings, ignoreChecks: true }),
    countOnly,
  );
  if (whole.result === undefined) throw whole.error;
  const counted = `${folder}/counted`;
  copyStart(path, counted);
  const steps = await withFault(
    () => resumeRun(commands, { path: counted, ignoreChecks: true }),
    countOnly,
  );
  Deno.removeSync(counted, { recursive: true });
  const begun = `${folder}/begun`;
  const first = await withFault(
    () =>
      startRun(commands, {
        ...{ path: begun, settings, ignoreChecks: true },
        isStopRequested: () => true,
      }),
    countOnly,
  );
  Deno.removeSync(begun, { recursive: true });
  return {
    ...{ commands, folder, path, result: whole.result },
    stepOperations: steps.operations,
    startOperations: first.operations,
  };
}

/** Every number below `count` once, in an order whose every beginning is spread over all of them. */
function* spreadOut(count: number): Generator<number> {
  const divisor = (a: number, b: number): number => b === 0 ? a : divisor(b, a % b);
  let step = Math.max(1, Math.round(count * 0.618));
  while (divisor(step, count) !== 1) step++;
  for (let i = 0; i < count; i++) yield i * step % count;
}

/** A copy of the yardstick as it was before its first step. */
function copyStart(from: string, to: string): void {
  Deno.mkdirSync(`${to}/checkpoints`, { recursive: true });
  for (const name of ["config.json", "checks.json", "checkpoints/step-0.safetensors"]) {
    Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Files below a folder, sorted, without the lock. */
function filesIn(path: string, prefix = ""): string[] {
  return namesIn(`${path}/${prefix}`).flatMap((name) => {
    const inside = `${prefix}${name}`;
    const isFolder = Deno.lstatSync(`${path}/${inside}`).isDirectory;
    return isFolder ? filesIn(path, `${inside}/`) : name === "lock" ? [] : [inside];
  });
}

/**
 * Files in which a run that was taken up may differ: config.json and timing.jsonl hold when and where it ran, and
 * later_checks.jsonl what was checked as it was taken up.
 */
const OF_THE_START = ["config.json", "timing.jsonl", "later_checks.jsonl"];

/** The files in which a run differs from the yardstick. */
function differences(yardstick: string, path: string): string[] {
  const names = new Set([...filesIn(yardstick), ...filesIn(path)]);
  for (const name of OF_THE_START) names.delete(name);
  return [...names].filter((name) => {
    const [a, b] = [`${yardstick}/${name}`, `${path}/${name}`];
    if (!exists(a) || !exists(b)) return true;
    const [left, right] = [Deno.readFileSync(a), Deno.readFileSync(b)];
    return left.length !== right.length || left.some((byte, i) => byte !== right[i]);
  });
}

/** Takes a disturbed run up, and notes how it ends. */
async function finish(
  { commands, path: whole, result }: Yardstick,
  { path, tally, note }: { readonly path: string; readonly tally: Tally; readonly note: string },
): Promise<void> {
  tally.tried++;
  try {
    const settings = smallSettings(STEPS, SETS);
    const ended = exists(runPaths(path).config)
      ? await resumeRun(commands, { path, ignoreChecks: true })
      : await startRun(commands, { path, settings, ignoreChecks: true });
    const found = differences(whole, path);
    const leftovers = found.filter((name) => name.endsWith(".tmp"));
    const isSame = ended.weightsHash === result.weightsHash &&
      found.every((name) => name.endsWith(".tmp"));
    tally.leftovers += Number(leftovers.length > 0);
    tally.different += Number(!isSame);
    if (!isSame || leftovers.length > 0) tally.notes.push(`${note}: ${found.join(", ")}`);
  } catch (error) {
    tally.different++;
    tally.notes.push(`${note}: ${error instanceof Error ? error.message : error}`);
  }
  Deno.removeSync(path, { recursive: true });
}

/** True for the end that a fault must have. */
function isExpected(error: unknown, kind: FaultKind): boolean {
  if (kind.startsWith("kill")) return error instanceof Killed;
  return error instanceof UserError && error.exitCode === 4;
}

/** Where faults are put. */
export interface FaultPlan {
  readonly kind: FaultKind;
  /** True: from the very start of a run. False: from its first step on, when it is resumed from step 0. */
  readonly fromNothing: boolean;
  /** At most so many operations; default all. */
  readonly limit?: number;
  /** Ends the work early. */
  readonly isTimeUp?: () => boolean;
}

/** Puts one fault at each file operation of a run, or at some of them, and takes the run up. */
export async function faultEverywhere(yardstick: Yardstick, plan: FaultPlan): Promise<Tally> {
  const { kind, fromNothing, limit = Infinity, isTimeUp = () => false } = plan;
  const { commands, folder, startOperations, stepOperations } = yardstick;
  const planned = fromNothing ? startOperations : stepOperations;
  const tally = newTally(planned);
  for (const at of spreadOut(planned)) {
    if (tally.tried >= limit || isTimeUp()) break;
    const path = `${folder}/fault-${at}`;
    if (!fromNothing) copyStart(yardstick.path, path);
    const settings = smallSettings(STEPS, SETS);
    const work = () =>
      fromNothing
        ? startRun(commands, { path, settings, ignoreChecks: true })
        : resumeRun(commands, { path, ignoreChecks: true });
    const { error } = await withFault(work, { at, kind });
    const note = `${kind} at operation ${at}`;
    if (!isExpected(error, kind) && !isLate(error, kind)) {
      tally.traces++;
      tally.notes.push(`${note}: ended with ${error}`);
    }
    await finish(yardstick, { path, tally, note });
  }
  return tally;
}

/** Removing what is left is tried and need not succeed. */
function isLate(error: unknown, kind: FaultKind): boolean {
  return !kind.startsWith("kill") && error === undefined;
}

/** Kills a run twice at random file operations, the second time while it is taken up. */
export async function killTwice(
  yardstick: Yardstick,
  options: {
    readonly count: number;
    readonly random: () => number;
    readonly isTimeUp?: () => boolean;
  },
): Promise<Tally> {
  const { count, random, isTimeUp = () => false } = options;
  const { commands, folder, stepOperations } = yardstick;
  const tally = newTally(count);
  for (let i = 0; i < count; i++) {
    if (isTimeUp()) break;
    const path = `${folder}/twice-${i}`;
    copyStart(yardstick.path, path);
    const places = [random(), random()].map((share) => Math.floor(share * stepOperations));
    for (const at of places) {
      const kind = random() < 0.5 ? "kill before" : "kill within";
      await withFault(() => resumeRun(commands, { path, ignoreChecks: true }), { at, kind });
    }
    await finish(yardstick, { path, tally, note: `killed at operations ${places.join(" and ")}` });
  }
  return tally;
}

/** Kills child processes at random moments, as `kill -9` does. */
export async function killChildren(
  yardstick: Yardstick,
  options: {
    readonly count: number;
    readonly random: () => number;
    readonly isTimeUp?: () => boolean;
  },
): Promise<Tally> {
  const { count, random, isTimeUp = () => false } = options;
  const tally = newTally(count);
  const sets = [...SMALL_SETS, ...SETS, `steps=${STEPS}`].flatMap((set) => ["--set", set]);
  for (let i = 0; i < count; i++) {
    if (isTimeUp()) break;
    const path = `${yardstick.folder}/child-${i}`;
    const isResumed = i % 3 > 0;
    if (isResumed) copyStart(yardstick.path, path);
    const start = ["train", "--base", golden("model.safetensors"), ...sets];
    const child = new Deno.Command(LAUNCHER, {
      args: [...(isResumed ? ["train", "--resume"] : start), "--out", path, "--no-gate"],
      env: { AGENTRL_TUNING: "" },
      stdout: "null",
      stderr: "null",
    }).spawn();
    const moment = setTimeout(() => child.kill("SIGKILL"), 4000 * random());
    await child.status;
    clearTimeout(moment);
    if (!exists(path)) Deno.mkdirSync(path);
    await finish(yardstick, { path, tally, note: `child ${i} killed` });
  }
  return tally;
}

/** A row of the printed table. */
export function tallyRow(name: string, tally: Tally): string {
  const { tried, planned, different, leftovers, traces } = tally;
  const cells = [tried, planned, different, leftovers, traces];
  return `| ${name.padEnd(44)} | ${cells.map((count) => String(count).padStart(9)).join(" | ")} |`;
}

async function main(args: readonly string[]): Promise<number> {
  const option = (name: string, standard: number) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? standard);
  const endMs = performance.now() + option("minutes", Infinity) * 60_000;
  let sectionsLeft = 4 * 2 + 2;
  /** Each section gets its share of the time that is left. */
  const timeOfSection = () => {
    const now = performance.now();
    const limitMs = now + (endMs - now) / sectionsLeft--;
    return () => performance.now() > limitMs;
  };
  let state = 12345; // Lehmer's generator: the same kills every time.
  const random = () => (state = state * 48271 % 2147483647) / 2147483647;
  const folder = Deno.makeTempDirSync();
  const commands = new Commands(await openGpu({ requireHardware: false, readback: "awaited" }));
  const yardstick = await makeYardstick(commands, folder);
  console.log(
    `| ${"fault".padEnd(44)} |     tried |        of | different | leftovers | traces    |\n|${
      "-".repeat(46)
    }|${"-----------|".repeat(5)}`,
  );
  const { startOperations, stepOperations } = yardstick;
  console.log(
    `The start has ${startOperations} file operations, the steps have ${stepOperations}.`,
  );
  let bad = 0;
  const show = (name: string, tally: Tally) => {
    console.log(tallyRow(name, tally));
    tally.notes.forEach((note) => console.log(`  ${note}`));
    bad += tally.different + tally.leftovers + tally.traces;
  };
  for (const kind of ["kill before", "kill within", "ENOSPC", "EIO"] as const) {
    for (const fromNothing of [false, true]) {
      const where = fromNothing ? "of the start" : "of the steps";
      const plan = { kind, fromNothing, isTimeUp: timeOfSection() };
      show(`${kind} at every operation ${where}`, await faultEverywhere(yardstick, plan));
    }
  }
  const twice = { count: 100, random, isTimeUp: timeOfSection() };
  show("two kills at random operations", await killTwice(yardstick, twice));
  const children = { count: option("children", 60), random, isTimeUp: timeOfSection() };
  show("kill -9 of child processes", await killChildren(yardstick, children));
  Deno.removeSync(folder, { recursive: true });
  return bad === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
