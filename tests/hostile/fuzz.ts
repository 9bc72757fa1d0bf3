/**
 * Hands mutated inputs to every parser: each must return or refuse with a UserError of one line, and what carries a SHA-256 must be
 * refused or be what was written. Usage: deno task fuzz [--inputs=N] [--seed=N]
 */
import { UserError } from "../../src/core/errors.ts";
import { oneSentence } from "../../src/core/sentence.ts";
import { makeTargets, type Target } from "./fuzz_targets.ts";

/** What became of the inputs of one kind. */
export interface FuzzTally {
  inputs: number;
  accepted: number;
  refused: number;
  /** Another exception than a UserError, a sentence of several lines, or damage that was believed. */
  readonly failures: string[];
}

/** Integers below a limit, the same for the same seed. */
type Draw = (limit: number) => number;

/** mulberry32, by Tommy Ettinger: 32 bits of state are enough to choose mutations. */
function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % limit;
  };
}

const ODD_TEXTS = [
  ...["null", "NaN", "Infinity", "-1", "1e999", "4294967301", "9007199254740993", "[]", "{}", '""'],
  ...[
    "true",
    '"__proto__"',
    '"\\u0000"',
    '"\\ud800"',
    "\x1b[31m",
    "\u2028",
    "\u202e",
    "\n",
    ",",
    ":",
  ],
  ...[
    "}",
    "]",
    '"',
    "\\",
    "0",
    "1.5",
    "[[[[[[[[",
    '{"a":',
    "\ufeff",
    "é",
    "--json",
    "=",
    "--",
    "-h",
  ],
];

/** One to four changes: bits, bytes, texts, cuts, doubled and moved stretches. */
function mutate(seed: Uint8Array, draw: Draw): Uint8Array<ArrayBuffer> {
  let bytes = Uint8Array.from(seed);
  for (let left = 1 + draw(4); left > 0; left--) {
    const at = draw(bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + draw(40));
    const splice = (insert: Uint8Array, until = at) =>
      Uint8Array.from([...bytes.subarray(0, at), ...insert, ...bytes.subarray(until)]);
    switch (draw(7)) {
      case 0:
        if (at < bytes.length) bytes[at] ^= 1 << draw(8);
        break;
      case 1:
        if (at < bytes.length) bytes[at] = draw(256);
        break;
      case 2:
        bytes = splice(new TextEncoder().encode(ODD_TEXTS[draw(ODD_TEXTS.length)]));
        break;
      case 3:
        bytes = splice(new TextEncoder().encode(ODD_TEXTS[draw(ODD_TEXTS.length)]), end);
        break;
      case 4:
        bytes = splice(new Uint8Array(), end);
        break;
      case 5:
        bytes = splice(bytes.slice(at, end));
        break;
      default:
        if (draw(4) === 0) bytes = bytes.slice(0, at);
    }
  }
  return bytes;
}

/** Hands one input over. */
function tryInput({ read }: Target, bytes: Uint8Array<ArrayBuffer>, tally: FuzzTally): void {
  tally.inputs++;
  try {
    const wrong = read(bytes);
    tally.accepted++;
    if (wrong !== undefined) tally.failures.push(wrong);
  } catch (error) {
    tally.refused++;
    if (!(error instanceof UserError)) {
      tally.failures.push(error instanceof Error ? String(error.stack) : String(error));
    } else if (!/^[^\p{Cc}]{8,300}$/u.test(oneSentence(error.message))) {
      tally.failures.push(`no sentence: ${JSON.stringify(error.message)}`);
    }
  }
}

/**
 * Tries mutated inputs of every kind.
 *
 * @param folder An empty folder.
 * @param options.inputs About how many in all.
 * @param options.seed The same seed gives the same inputs.
 * @returns What became of them, by kind.
 */
export function fuzz(
  folder: string,
  options: { readonly inputs: number; readonly seed: number },
): ReadonlyMap<string, FuzzTally> {
  const targets = makeTargets(folder);
  const weights = targets.reduce((sum, { weight }) => sum + weight, 0);
  const draw = drawFrom(options.seed);
  return new Map(targets.map((target) => {
    const tally: FuzzTally = { inputs: 0, accepted: 0, refused: 0, failures: [] };
    tryInput(target, Uint8Array.from(target.seed), tally);
    const count = Math.ceil(options.inputs * target.weight / weights);
    while (tally.inputs < count) tryInput(target, mutate(target.seed, draw), tally);
    return [target.name, tally];
  }));
}

function main(args: readonly string[]): number {
  const option = (name: string, standard: number) =>
    Number(args.find((arg) => arg.startsWith(`--${name}=`))?.split("=")[1] ?? standard);
  const options = { inputs: option("inputs", 200_000), seed: option("seed", 1) };
  const folder = Deno.makeTempDirSync();
  const tallies = fuzz(folder, options);
  Deno.removeSync(folder, { recursive: true });
  const row = (name: string, cells: readonly (string | number)[]) =>
    console.log(
      `| ${name.padEnd(38)} | ${cells.map((cell) => String(cell).padStart(8)).join(" | ")} |`,
    );
  row(`seed ${options.seed}`, ["inputs", "accepted", "refused", "failures"]);
  console.log(`|${"-".repeat(40)}|${"----------|".repeat(4)}`);
  const sum = [0, 0, 0, 0];
  for (const [name, { inputs, accepted, refused, failures }] of tallies) {
    const counts = [inputs, accepted, refused, failures.length];
    counts.forEach((count, i) => sum[i] += count);
    row(name, counts);
    failures.slice(0, 3).forEach((failure) => console.log(`  ${failure.slice(0, 600)}`));
  }
  row("all", sum);
  return sum[3] === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(main(Deno.args));
