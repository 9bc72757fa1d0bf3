/** Tests of cli/flags.ts. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { COMMON_FLAGS, type Flags, formatFlags, parseFlags } from "../../cli/flags.ts";
import { UserError } from "../../src/core/errors.ts";

const DECLARED = {
  algo: { kind: "string", choices: ["reinforce", "grpo"], default: "grpo", help: "algorithm" },
  out: { kind: "string", required: true, help: "folder of the run" },
  maxGradNorm: { kind: "number", min: 0, help: "norm clip" },
  set: { kind: "list", keys: ["lr", "klCoef"], help: "one configuration value" },
  gate: { kind: "boolean", default: true, help: "start even if an invariant is violated" },
  ...COMMON_FLAGS,
} as const satisfies Flags;

Deno.test("parseFlags() returns typed values when all is well", () => {
  const { flags, positionals } = parseFlags(
    ["a b", "--out", "x y", "--max-grad-norm=1e-3", "--set", "a=1", "--set=b=-2", "--json"],
    DECLARED,
  );
  const norm: number | undefined = flags.maxGradNorm;
  const algorithm: "reinforce" | "grpo" = flags.algo;
  assertEquals([norm, algorithm, flags.out, flags.seed, flags.json, flags.help], [
    1e-3,
    "grpo",
    "x y",
    0,
    true,
    false,
  ]);
  assertEquals(flags.set, ["a=1", "b=-2"]);
  assertEquals(positionals, ["a b"]);
});

Deno.test("parseFlags() says what was found and what is allowed when a value is bad", () => {
  const cases: readonly (readonly [readonly string[], string])[] = [
    [[], "--out is required: folder of the run"],
    [["--out"], "--out needs a value"],
    [["--out", "--json"], "--out needs a value"],
    [["--out=x", "--seed", "1.5"], '--seed must be an integer from 0 to 4294967295, found "1.5"'],
    [["--out=x", "--seed=-1"], 'found "-1"'],
    [["--out=x", "--seed", "4294967296"], 'found "4294967296"'],
    [["--out=x", "--seed", "0x10"], 'found "0x10"'],
    [
      ["--out=x", "--max-grad-norm=-1"],
      '--max-grad-norm must be a number of at least 0, found "-1"',
    ],
    [["--out=x", "--max-grad-norm", "NaN"], 'found "NaN"'],
    [["--out=x", "--max-grad-norm", "1e999"], 'found "1e999"'],
    [["--out=x", "--algo", "grop"], 'reinforce, grpo, found "grop": did you mean "grpo"?'],
    [
      ["--out=x", "--maxGradNorm", "1"],
      'unknown flag --maxGradNorm: did you mean "--max-grad-norm"?',
    ],
    [["--out=x", "--seeed=3"], 'unknown flag --seeed: did you mean "--seed"?'],
    [["--out=x", "-x"], "unknown flag -x"],
    [["--out=x", "--_", "y"], "unknown flag --_"],
    [["--out=x", "--__proto__", "y"], "unknown flag --__proto__"],
    [["--out=x", "--json=no"], '--json takes no value, found "no"'],
    [["--out=x", "--help="], '--help takes no value, found ""'],
    [["--out=x", "--seed", "1", "--seed=2"], "--seed is given twice"],
    [["--out=x", "--json", "--json"], "--json is given twice"],
    [["--out=x", "-h", "--help"], "--help is given twice"],
    [["--out=x", "--no-gate", "--gate"], "--no-gate and --gate contradict each other"],
    [["--out=x", "--no-gate=1"], '--no-gate takes no value, found "1"'],
    [["--out=x", "--no-gat"], 'unknown flag --no-gat: did you mean "--no-gate"?'],
    [["--out=x", "--no-json"], "unknown flag --no-json"],
    [["--lr", "0.01", "--out=x"], "unknown flag --lr: write --set lr=0.01"],
    [["--out=x", "--kl-coef=-1"], "unknown flag --kl-coef: write --set klCoef=-1"],
    [["--out=x", "--klcoef", "--json"], "unknown flag --klcoef: write --set klCoef=VALUE"],
  ];
  for (const [args, sentence] of cases) {
    const error = assertThrows(() => parseFlags(args, DECLARED), UserError, sentence);
    assertEquals(error.exitCode, 2);
  }
});

Deno.test("parseFlags() requires nothing when help is asked for", () => {
  assertEquals(parseFlags(["--help"], DECLARED).flags.help, true);
  assertEquals(parseFlags(["-h"], DECLARED).flags.help, true);
  // Nor does a flag that waits for its value take --help for a missing one.
  assertEquals(parseFlags(["--out", "--help"], DECLARED).flags.help, true);
});

Deno.test("parseFlags() switches a flag off that is on by default, and help shows how", () => {
  const gateOf = (...args: string[]) => parseFlags(["--out=x", ...args], DECLARED).flags.gate;
  assertEquals([gateOf(), gateOf("--no-gate"), gateOf("--gate")], [true, false, true]);
  const line = formatFlags(DECLARED).find((text) => text.includes("gate")) ?? "";
  assertEquals(
    line.trim().replace(/ +/g, " "),
    "--no-gate start even if an invariant is violated",
  );
});

Deno.test("formatFlags() names every flag with its range in the columns that there are", () => {
  for (const columns of [50, 80, 120]) {
    const lines = formatFlags(DECLARED, { columns });
    assert(lines.every((line) => line.length <= columns), lines.join("\n"));
  }
  const text = formatFlags(DECLARED, { columns: 80 }).join("\n");
  for (const part of ["--max-grad-norm X", "reinforce | grpo", "default grpo", "required"]) {
    assertStringIncludes(text, part);
  }
});
