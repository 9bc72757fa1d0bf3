/** `agentrl bench`: how fast things run here, after a check that they are right. */
import { UserError } from "../../src/core/errors.ts";
import { SCORE_SHAPES, type ScoreShape } from "../../src/bench/score.ts";
import { suggestName } from "../../src/core/nearest.ts";
import { writeFileAtomic } from "../../src/files/atomic_file.ts";
import { asUserError } from "../../src/files/file_error.ts";
import { requireOutput } from "../../src/files/output.ts";
import { benchAll } from "../bench/all.ts";
import { SUITES } from "../bench/suites.ts";
import { defineCommand, type Outcome } from "../command.ts";
import type { Flags } from "../flags.ts";
import { THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";

const NAMES = [...Object.keys(SUITES), "all"];

const BENCH_FLAGS = {
  ...GPU_FLAGS,
  rounds: {
    kind: "integer",
    default: 7,
    min: 1,
    max: 1000,
    help: "measured rounds (not of kernels; all on a CPU: at most 2)",
  },
  peer: {
    kind: "string",
    default: "",
    help: "a program that times the same cases (step, logprob, score)",
  },
  shape: {
    kind: "string",
    choices: Object.keys(SCORE_SHAPES) as ScoreShape[],
    default: "qwen2.5-0.5b",
    help: "score: the model; small takes seconds",
  },
  tokens: {
    kind: "integer",
    default: 512,
    min: 1,
    max: 32_768,
    help: "score: tokens of the sequence",
  },
  weights: {
    kind: "string",
    choices: ["bf16", "f32"],
    default: "bf16",
    help: "score: how the model lies in memory",
  },
  out: { kind: "string", default: "", help: "also write the JSON document to this file" },
  tune: {
    kind: "boolean",
    help: "search the fastest layout on a software adapter, too (all)",
  },
} as const satisfies Flags;

/** Writes the document where it should go, whole or not at all. */
function writeDocument({ document, text, ...outcome }: Outcome, out: string): Outcome {
  if (out === "") return { document, text, ...outcome };
  try {
    writeFileAtomic(out, `${JSON.stringify(document, null, 2)}\n`);
  } catch (error) {
    throw asUserError(error, `Cannot write ${out}`);
  }
  return { document, text: `${text}\n\nThe JSON document is in ${out}.`, ...outcome };
}

/** The command `bench`. */
export const command = defineCommand({
  flags: BENCH_FLAGS,
  positionals: [NAMES.join("|")],
  choices: NAMES,
  async run(flags, [name = ""], machine = THIS_MACHINE) {
    const suite = Object.hasOwn(SUITES, name) ? SUITES[name] : undefined;
    if (suite === undefined && name !== "all") {
      throw new UserError(`unknown benchmark "${name}": ${suggestName(name, NAMES)}`);
    }
    if (flags.out !== "") requireOutput(flags.out);
    const outcome = suite === undefined
      ? await benchAll(SUITES, flags)
      : await suite(await machine.openCommands(flags), flags);
    return writeDocument(outcome, flags.out);
  },
});
