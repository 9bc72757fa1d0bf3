/**
 * The process that loads llama.cpp: log-probs of ids, and ids of texts. It runs outside of the project's configuration, whose
 * packages every command would bring along.
 *
 * deno run --no-config --no-lock -A tests/oracle/llama_process.ts PACKAGE JOBS.json ANSWERS.json
 */

/** How attention is computed; what is left out is llama.cpp's default. */
export interface LlamaSettings {
  readonly cache?: "F32" | "F16";
  /** Flash attention on a CPU rounds to f16, whatever the cache. */
  readonly flashAttention?: boolean;
}

/** What is asked. */
export interface LlamaJob {
  /** The GGUF file. */
  readonly path: string;
  readonly ids_B: readonly (readonly number[])[];
  readonly settings: readonly LlamaSettings[];
  /** Texts to make ids of. */
  readonly texts: readonly string[];
}

/** What llama.cpp says. */
export interface LlamaAnswer {
  /** By settings and sequence: log-probs of each token but the first. */
  readonly logp_SB: readonly (readonly (readonly number[])[])[];
  readonly ids_X: readonly (readonly number[])[];
}

/** Of node-llama-cpp what is used here. */
interface Package {
  readonly getLlama: (options: Readonly<Record<string, unknown>>) => Promise<{
    readonly loadModel: (options: Readonly<Record<string, unknown>>) => Promise<Model>;
  }>;
}

interface Model {
  readonly tokenize: (text: string, specialTokens: boolean) => number[];
  readonly createContext: (options: Readonly<Record<string, unknown>>) => Promise<{
    readonly getSequence: () => Sequence;
    readonly dispose: () => Promise<void>;
  }>;
  readonly dispose: () => Promise<void>;
}

interface Sequence {
  readonly controlledEvaluate: (input: readonly unknown[]) => Promise<
    readonly ({ readonly next: { readonly probabilities?: Map<number, number> } } | undefined)[]
  >;
}

async function logProbs(
  model: Model,
  ids: readonly number[],
  { cache, ...settings }: LlamaSettings,
): Promise<number[]> {
  const context = await model.createContext({
    contextSize: 256,
    batchSize: 256,
    threads: 2,
    ...(cache && { experimentalKvCacheKeyType: cache, experimentalKvCacheValueType: cache }),
    ...settings,
  });
  const generateNext = {
    probabilities: true,
    options: { temperature: 1, topK: 0, topP: 1, minP: 0 },
  };
  const input = ids.slice(0, -1).map((id) => [id, { generateNext }]);
  const logp = input.length === 0
    ? []
    : (await context.getSequence().controlledEvaluate(input)).map((output, t) =>
      Math.log(output?.next.probabilities?.get(ids[t + 1]!) ?? NaN)
    );
  await context.dispose();
  return logp;
}

if (import.meta.main) {
  const [name = "", jobsPath = "", answersPath = ""] = Deno.args;
  const { getLlama }: Package = await import(name);
  const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
  const answers: LlamaAnswer[] = [];
  const jobs: readonly LlamaJob[] = JSON.parse(Deno.readTextFileSync(jobsPath));
  for (const { path, ids_B, settings, texts } of jobs) {
    const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
    const logp_SB: number[][][] = [];
    for (const one of settings) {
      const logp_B: number[][] = [];
      for (const ids of ids_B) logp_B.push(await logProbs(model, ids, one));
      logp_SB.push(logp_B);
    }
    answers.push({ logp_SB, ids_X: texts.map((text) => Array.from(model.tokenize(text, true))) });
    await model.dispose();
  }
  Deno.writeTextFileSync(answersPath, JSON.stringify(answers));
  Deno.exit(0); // llama.cpp's threads would keep the process.
}
