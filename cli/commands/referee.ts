/** `agentrl referee`: scores the tokens of a dump under the model itself, and says which side left it. */
import { UserError } from "../../src/core/errors.ts";
import { type SaidFinding, sayFinding, speakAgainst } from "../../src/diagnose/finding.ts";
import { statedTemperature } from "../../src/diagnose/referee/stated_temperature.ts";
import { LargestGaps } from "../../src/diagnose/referee/largest_gaps.ts";
import { referee } from "../../src/diagnose/referee/referee.ts";
import { reportDocument } from "../../src/diagnose/referee/report_schema.ts";
import { writeJson } from "../../src/files/json.ts";
import { openDecoderFiles } from "../../src/files/load_decoder.ts";
import { requireOutput } from "../../src/files/output.ts";
import { exists } from "../../src/files/paths.ts";
import { stderrProgress } from "../../src/files/progress.ts";
import { hasColours, terminalColumns } from "../../src/files/terminal.ts";
import { openTokenizer, type Tokenizer } from "../../src/files/tokenizer.ts";
import { readTokens } from "../../src/files/token_source.ts";
import {
  beginIdsOf,
  loadRefereeModel,
  padIdsOf,
  requireIdsOf,
} from "../../src/run/referee_model.ts";
import type { TokenSequence } from "../../src/tokens/token_batch.ts";
import { defineCommand } from "../command.ts";
import { adapterName, THIS_MACHINE } from "../gpu.ts";
import { GPU_FLAGS } from "../gpu_layout.ts";
import { COMMAND_WORDS } from "../next_command.ts";
import { withReadProgress } from "../read_log.ts";
import { refereeText } from "../referee_text.ts";

/** Sequences to score, and what of the dump they are. */
async function readSequences(
  path: string,
  { limit, step }: { readonly limit: number | undefined; readonly step: number | undefined },
) {
  return await withReadProgress(async (onProgress) => {
    const batch = await readTokens(path, { onProgress });
    const kept = new LargestGaps(limit);
    const steps = new Set<number>();
    let sequences = 0;
    for await (const sequence of batch.sequences()) {
      if (sequence.step !== undefined) steps.add(sequence.step);
      if (step !== undefined && sequence.step !== step) continue;
      sequences++;
      kept.add(sequence);
    }
    if (step !== undefined && sequences === 0) {
      const there = [...steps].toSorted((a, b) => a - b);
      throw new UserError(
        `Cannot referee step ${step} of ${path}: ${
          there.length === 0
            ? "the dump does not tell steps; leave --step out"
            : `its steps are ${there[0]} to ${there[there.length - 1]}`
        }`,
      );
    }
    const { form, ignored } = batch.source;
    return { form, sequences, ignored, scored: kept.sequences };
  });
}

/** The texts of ids; undefined where the folder has no tokenizer that can be read, since ids do without. */
async function textsOf(folder: string): Promise<Tokenizer["textOf"] | undefined> {
  if (!exists(`${folder}/tokenizer.json`)) return undefined;
  try {
    return (await openTokenizer(folder)).textOf;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** Tokens that are scored again in a moment: a line for each would hide the first one. */
const QUICK_TOKENS = 5000;

/** A bar for each time that sequences are scored: first as they are, then as what may have been done to them. */
function scoringProgress(label: string) {
  let isFirst = true;
  return (total: number) => {
    if (!isFirst && total < QUICK_TOKENS) return () => {};
    const bar = stderrProgress({ label: isFirst ? label : "explain", total, alreadyDone: 0 });
    isFirst = false;
    const startMs = performance.now();
    let done = 0;
    return Object.assign((rowCount: number) => {
      done += rowCount;
      const perSecond = done / Math.max(1e-3, (performance.now() - startMs) / 1000);
      bar.update(done, `${Math.round(perSecond)} tokens/s`);
    }, { [Symbol.dispose]: () => bar[Symbol.dispose]() });
  };
}

function tokensOf(sequences: readonly TokenSequence[]): number {
  return sequences.reduce((sum, { ids }) => sum + ids.length, 0);
}

/** The command `referee`. */
export const command = defineCommand({
  flags: {
    model: {
      kind: "string",
      required: true,
      help: "a Hugging Face folder of a Llama, Qwen2 or Qwen3: the weights that drew the tokens",
    },
    adapter: { kind: "string", help: "a PEFT folder of a LoRA, merged into the model" },
    reference: { kind: "string", help: "the folder that the KL term should use" },
    tokens: { kind: "string", required: true, help: "a token dump, or - for standard input" },
    step: { kind: "integer", min: 0, help: "only sequences of this step" },
    limit: {
      kind: "integer",
      min: 1,
      help: "score so many sequences, those with the dump's largest gaps first",
    },
    temperature: {
      kind: "number",
      min: 1e-3,
      max: 1e3,
      help:
        "what every side should divide its logits by (default: what the dump says was asked for, else 1)",
    },
    weights: {
      kind: "string",
      choices: ["f32", "bf16"],
      help: "how matrices are kept (default: as the files hold them)",
    },
    out: { kind: "string", help: "file to write the JSON document to" },
    strict: { kind: "boolean", help: "exit with code 3 for a suspect as well" },
    ...GPU_FLAGS,
  },
  async run(flags, _positionals, machine = THIS_MACHINE) {
    const { model: path, adapter, reference, tokens, out, weights: storage } = flags;
    const inputs = [path, tokens, adapter, reference].filter((input) => input !== undefined);
    if (out !== undefined) requireOutput(out, { inputs });
    const files = openDecoderFiles(path, { adapter });
    const referenceFiles = reference === undefined ? undefined : openDecoderFiles(reference);
    const { scored: sequences, ignored, ...dump } = await readSequences(tokens, flags);
    const temperature = flags.temperature ?? statedTemperature(sequences) ?? 1;
    requireIdsOf(files, sequences);
    if (referenceFiles) requireIdsOf(referenceFiles, sequences);
    const commands = await machine.openCommands(flags);
    using model = await loadRefereeModel(commands, files, {
      storage,
      onWork: scoringProgress("score"),
    });
    using other = referenceFiles && await loadRefereeModel(commands, referenceFiles, {
      storage,
      onWork: scoringProgress("reference"),
    });
    const report = await referee({
      sequences,
      skipped: ignored.map(({ what, count }) => `${what} (${count})`),
      score: model.score,
      scoreReference: other?.score,
      temperature,
      padIds: padIdsOf(files),
      beginIds: beginIdsOf(files),
    });
    const findings: SaidFinding[] = report.findings.map((found) =>
      sayFinding(found, COMMAND_WORDS)
    );
    const document = {
      ...reportDocument(report, { sequences, textOf: await textsOf(path) }),
      model: {
        path,
        architecture: model.architecture,
        adapter: adapter ?? null,
        reference: reference ?? null,
      },
      dump: { path: tokens, ...dump, scored: sequences.length, tokens: tokensOf(sequences) },
      temperature,
      adapter: adapterName(commands.gpu),
      findings,
    };
    if (out !== undefined) writeJson(out, document);
    const columns = terminalColumns();
    return {
      document,
      text: refereeText(document, { columns, hasColours: hasColours(), all: false }),
      isStyled: true,
      ...(speakAgainst(findings, flags) ? { exitCode: 3 } : {}),
    };
  },
});
