/** Tests of `agentrl score`, once as a child process for each kind of model: PyTorch's numbers within tolerance, and one sentence for every bad input. */
import { assert, assertEquals } from "@std/assert";
import {
  parseSafetensors,
  serializeSafetensors,
  type Tensor,
  type TensorFile,
} from "../../src/model/safetensors.ts";
import { sequencesOf, VARIANTS, writeDecoder } from "../model/random_decoder.ts";
import { readGolden } from "../reference/golden.ts";
import { idOf, writeTokenizer } from "../files/tiny_tokenizer.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, golden, namesIn } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";
import { changedCopy, setEntry, write } from "./damaged_files.ts";

/** A plain f32 run of PyTorch is off its float64 run by 4e-6; five times that. */
const LOGP_TOLERANCE = 2e-5;

const BATCH = readGolden("batch");
const FORWARD = readGolden("forward");
const B = 32, T = 41, V = 60;

interface Files {
  readonly checkpoint?: string;
  readonly batch?: string;
  readonly out: string;
}

function scoreArguments(files: Files, ...flags: string[]): string[] {
  const { checkpoint = golden("model.safetensors"), batch = golden("batch.safetensors") } = files;
  const { out } = files;
  return ["score", "--checkpoint", checkpoint, "--batch", batch, "--out", out, ...flags];
}

const score = (...args: Parameters<typeof scoreArguments>) => agentrlHere(scoreArguments(...args));

function read(path: string): TensorFile {
  return parseSafetensors(Deno.readFileSync(path), path);
}

/** Compares a [B, T−1] array where the target has an owner, and asserts zeros elsewhere. */
function assertScores(file: TensorFile, name: string, expected: Float64Array): void {
  const tensor = file.tensors.get(name);
  assertEquals(tensor?.shape, [B, T - 1]);
  let compared = 0;
  tensor?.data.forEach((value, cell) => {
    const hasTarget = BATCH.owner[Math.floor(cell / (T - 1)) * T + cell % (T - 1) + 1] > 0;
    if (!hasTarget) return assertEquals(value, 0);
    compared++;
    const error = Math.abs(value - expected[cell]);
    assert(error <= LOGP_TOLERANCE, `${name}[${cell}] is ${value}, off by ${error}`);
  });
  assertEquals(compared, 636); // 668 tokens of 32 episodes, each of which has one without a target.
}

Deno.test("agentrl score writes PyTorch's log-probs, entropies and logits", () =>
  withFolder(async (folder) => {
    const { code, stdout, stderr } = await agentrl(
      scoreArguments({ out: `${folder}/out` }, "--logits", "--json"),
    );
    assertEquals([code, stderr], [0, ""]);
    const file = read(`${folder}/out`);
    assertEquals([...file.tensors.keys()], ["logp", "entropy", "logits"]);
    assertScores(file, "logp", FORWARD.logp);
    assertScores(file, "entropy", FORWARD.entropy);
    const logits = file.tensors.get("logits");
    assertEquals(logits?.shape, [B, T, V]);
    for (let i = 0; i < 4 * T * V; i++) {
      const isToken = BATCH.owner[Math.floor(i / V)] > 0;
      const found = logits?.data[i] ?? NaN;
      const error = Math.abs(found - (isToken ? FORWARD.logits[i] : 0));
      // Logits are as large as 20, log-probs as 1 where they are compared most; f32 errors grow alike.
      assert(error <= 2 * LOGP_TOLERANCE, `logits[${i}] is ${found}, off by ${error}`);
    }
    const summary = JSON.parse(stdout);
    assertEquals([summary.episodes, summary.tokens, summary.temperature], [B, 636, 1]);
    // golden.json: the entropy over the action mask, and the cross-entropy, which is minus the mean log-prob.
    assert(Math.abs(summary.meanEntropy - 0.5224079697122749) <= LOGP_TOLERANCE);
    assert(Math.abs(summary.meanLogp + 0.5111880392096749) <= LOGP_TOLERANCE);
  }));

commandTest(
  "agentrl score writes PyTorch's log-probs when the temperature is 0.7",
  () =>
    withFolder(async (folder) => {
      const { code, stdout } = await score({ out: `${folder}/out` }, "--temperature", "0.7");
      assertEquals(code, 0);
      const file = read(`${folder}/out`);
      assertEquals([...file.tensors.keys()], ["logp", "entropy"]);
      assertScores(file, "logp", FORWARD.logp_t07);
      assert(FORWARD.logp_t07.some((value, i) => Math.abs(value - FORWARD.logp[i]) > 0.1));
      // The path of the temporary folder is the only text of unknown length.
      const lines = stdout.replaceAll(folder, "").split("\n");
      assert(lines.every((line) => line.length <= 80), stdout);
    }),
);

commandTest(
  "agentrl score refuses bad batches and checkpoints with one sentence and writes nothing",
  async (t) => {
    const model = Deno.readFileSync(golden("model.safetensors"));
    const copy = changedCopy;
    const cases: readonly (readonly [
      what: string,
      files: (folder: string) => Omit<Files, "out">,
      sentence: RegExp,
      code?: 1,
    ])[] = [
      [
        "an id beyond V",
        (f) => ({ batch: copy(f, "batch", setEntry("ids", 2 * T + 3, 60)) }),
        /the token id at episode 2, position 3 is 60, .* ids from 0 to 59/,
      ],
      [
        "a mask on a pad",
        (f) => ({
          batch: copy(f, "batch", (tensors) => {
            const pad = BATCH.owner.findIndex((owner, i) => i % T > 0 && owner === 0);
            setEntry("action_mask", Math.floor(pad / T) * (T - 1) + pad % T - 1, 1)(tensors);
          }),
        }),
        /action_mask at episode \d+, position \d+ is 1, but must be 0 there/,
      ],
      [
        "an id below 0",
        (f) => ({ batch: copy(f, "batch", setEntry("ids", 0, -1)) }),
        /the token id at episode 0, position 0 is -1/,
      ],
      [
        "shapes that disagree",
        (f) => ({
          batch: copy(
            f,
            "batch",
            (tensors) =>
              tensors.set("owner", {
                dtype: "I32",
                shape: [B, T - 1],
                data: new Int32Array(B * (T - 1)),
              }),
          ),
        }),
        /tensor "owner" is I32 \[32, 40\], required is I32 \[32, 41\]/,
      ],
      [
        "ids of another dtype",
        (f) => ({
          batch: copy(
            f,
            "batch",
            (tensors) =>
              tensors.set("ids", { dtype: "F32", shape: [B, T], data: new Float32Array(B * T) }),
          ),
        }),
        /tensor "ids" is F32 \[32, 41\], required is I32/,
      ],
      [
        "a batch without owners",
        (f) => ({ batch: copy(f, "batch", (tensors) => tensors.delete("owner")) }),
        /it holds no tensor "owner"/,
      ],
      [
        "no episodes",
        (f) => ({
          batch: copy(
            f,
            "batch",
            (tensors) =>
              tensors.set("ids", { dtype: "I32", shape: [0, T], data: new Int32Array(0) }),
          ),
        }),
        /the batch is empty \(ids has shape \[0, 41\]\)/,
      ],
      [
        "an empty episode",
        (f) => ({
          batch: copy(f, "batch", (tensors) => {
            for (let i = 0; i < T; i++) setEntry("owner", 5 * T + i, 0)(tensors);
          }),
        }),
        /episode 5 is empty/,
      ],
      [
        "a hole in an episode",
        (f) => ({ batch: copy(f, "batch", setEntry("owner", 3, 0)) }),
        /episode 0 has a hole \(owner 0 at position 3, \d at position 4\)/,
      ],
      [
        "an owner that is none",
        (f) => ({ batch: copy(f, "batch", setEntry("owner", T, 4)) }),
        /the owner at episode 1, position 0 is 4, allowed values are 0 pad/,
      ],
      [
        "an advantage that is not finite",
        (f) => ({ batch: copy(f, "batch", setEntry("advantages", 7, NaN)) }),
        /advantages at episode 7 is NaN/,
      ],
      [
        "no batch file",
        () => ({ batch: "no/such/batch" }),
        /Cannot read no\/such\/batch: there is no/,
      ],
      [
        "a text instead of a batch",
        (f) => ({ batch: write(f, "ids,owner\n1,2\n3,4\n") }),
        /it is not a safetensors file/,
      ],
      [
        "a truncated checkpoint",
        (f) => ({ checkpoint: write(f, model.subarray(0, model.length - 1000)) }),
        /it is truncated/,
      ],
      ["an empty checkpoint", (f) => ({ checkpoint: write(f, "") }), /it holds 0 bytes/],
      [
        "a batch instead of a checkpoint",
        () => ({ checkpoint: golden("batch.safetensors") }),
        /is it a TinyAgent\?/,
      ],
      [
        "a checkpoint that lacks a parameter",
        (f) => ({ checkpoint: copy(f, "model", (tensors) => tensors.delete("ln.bias")) }),
        /has no parameter "ln.bias"/,
      ],
      [
        "a parameter of another shape",
        (f) => ({
          checkpoint: copy(
            f,
            "model",
            (tensors) =>
              tensors.set("head.bias", { dtype: "F32", shape: [61], data: new Float32Array(61) }),
          ),
        }),
        /"head.bias" is F32 \[61\] in the checkpoint, but the model needs F32 \[60\]/,
      ],
      [
        "an unknown parameter",
        (f) => ({
          checkpoint: copy(
            f,
            "model",
            (tensors) =>
              tensors.set("ln.biass", { dtype: "F32", shape: [64], data: new Float32Array(64) }),
          ),
        }),
        /unknown parameter "ln.biass".*did you mean "ln.bias"/,
      ],
      [
        "a NaN weight",
        (f) => ({ checkpoint: copy(f, "model", setEntry("blocks.1.qkv.weight", 5, NaN)) }),
        /Parameter "blocks.1.qkv.weight" holds NaN at entry 5/,
        1,
      ],
      [
        "weights so large that log-probs overflow",
        (f) => ({
          checkpoint: copy(f, "model", (tensors) => {
            for (let i = 0; i < V * 64; i++) setEntry("head.weight", i, 3e38)(tensors);
          }),
        }),
        /the logp of episode 0, position 0 is (NaN|-?Infinity), .* nothing was written/,
        1,
      ],
    ];
    for (const [what, files, sentence, code = 2] of cases) {
      await t.step(what, () =>
        withFolder(async (folder) => {
          Deno.mkdirSync(`${folder}/out`);
          const result = await score({ ...files(folder), out: `${folder}/out/scores` });
          assertRefused(result, { code, sentence });
          assertEquals(namesIn(`${folder}/out`), []);
        }));
    }
  },
);

commandTest(
  "agentrl score refuses an output folder that is missing and a temperature of 0",
  () =>
    withFolder(async (folder) => {
      assertRefused(await score({ out: `${folder}/no/out` }), {
        code: 2,
        sentence: /Cannot write .*\/no\/out: there is no such file or folder/,
      });
      assertRefused(await score({ out: `${folder}/out` }, "--temperature", "0"), {
        code: 2,
        sentence: /--temperature must be a number from 0.001 to 1000, found "0"/,
      });
      assertEquals(namesIn(folder), []);
    }),
);

Deno.test(
  "agentrl score takes a Hugging Face folder in place of a checkpoint",
  () =>
    withFolder(async (folder) => {
      const config = VARIANTS.qwen2;
      writeDecoder(`${folder}/model`, config);
      const episodes = sequencesOf(config), columns = 40;
      const grid = (value: (b: number, t: number) => number): Tensor => ({
        dtype: "I32",
        shape: [episodes.length, columns],
        data: Int32Array.from(
          { length: episodes.length * columns },
          (_, i) => value(Math.floor(i / columns), i % columns),
        ),
      });
      const tensors = new Map([
        ["ids", grid((b, t) => episodes[b]![t] ?? 0)],
        ["owner", grid((b, t) => t >= episodes[b]!.length ? 0 : t < 2 ? 1 : 2)],
      ]);
      Deno.writeFileSync(`${folder}/batch`, serializeSafetensors({ tensors, metadata: {} }));
      const given = (
        ...flags: string[]
      ) => ["score", "--batch", `${folder}/batch`, "--out", `${folder}/out`, ...flags];
      const { code, stdout, stderr } = await agentrl(given("--model", `${folder}/model`, "--json"));
      assertEquals([code, stderr], [0, ""]);
      const document = JSON.parse(stdout);
      assertEquals([document.architecture, document.tokens], ["qwen2", 70]);
      const goldens = JSON.parse(
        Deno.readTextFileSync(new URL("../golden/decoders.json", import.meta.url)),
      ).qwen2;
      const file = read(`${folder}/out`);
      for (const name of ["logp", "entropy"]) {
        const { shape, data } = file.tensors.get(name)!;
        assertEquals(shape, [episodes.length, columns - 1]);
        data.forEach((value, cell) => {
          const golden = goldens[Math.floor(cell / 39)][name][cell % 39] ?? 0;
          assert(Math.abs(value - golden) <= LOGP_TOLERANCE, `${name}[${cell}]`);
        });
      }
      const refused: readonly (readonly [string[], RegExp])[] = [
        [[], /--checkpoint or --model is required/],
        [["--model", "a", "--checkpoint", "b"], /exclude each other/],
        [["--model", "a", "--text", "b"], /--batch and --text exclude each other/],
        [["--checkpoint", "b", "--weights", "bf16"], /--adapter and --weights are for --model/],
        [["--model", `${folder}/model`, "--logits"], /--logits is for --checkpoint/],
        [["--model", `${folder}/nowhere`], /there is no such file or folder/],
      ];
      for (const [flags, message] of refused) {
        assertRefused(await agentrlHere(given(...flags)), { code: 2, sentence: message });
      }
    }),
);

commandTest(
  "agentrl score takes texts in place of a batch, shows the least likely tokens and writes a batch",
  () =>
    withFolder(async (folder) => {
      writeDecoder(`${folder}/model`, VARIANTS.qwen2);
      writeTokenizer(`${folder}/model`);
      Deno.writeTextFileSync(`${folder}/texts`, '{"text": "the cat"}\n\n{"text": "a"}\n');
      const run = (kind: "text" | "batch", file: string, ...flags: string[]) =>
        agentrlHere(["score", "--model", `${folder}/model`, `--${kind}`, file, ...flags]);
      const texts = `${folder}/texts`, out = `${folder}/out`, again = `${folder}/again`;
      const { code, stdout, stderr } = await run("text", texts, "--out", out, "--json");
      assertEquals([code, stderr], [0, ""]);
      const { leastLikely, meanLogp } = JSON.parse(stdout);
      const { tensors } = read(out);
      assertEquals([...tensors.keys()], ["ids", "owner", "logp", "entropy"]);
      const ids = ["<s>", "the", "Ġ", "c", "at", "<s>", "a"].map(idOf);
      assertEquals(Array.from(tensors.get("ids")!.data), [...ids, 0, 0, 0]);
      const logp = Array.from(tensors.get("logp")!.data);
      const sorted = [...logp.slice(0, 5)].sort((a, b) => a - b);
      const found = leastLikely.map((token: { readonly logp: number }) => token.logp);
      assertEquals(found, sorted);
      assert(Math.abs(sorted.reduce((sum, value) => sum + value / 5, 0) - meanLogp) < 1e-12);
      const cat = leastLikely.find(({ token }: { readonly token: string }) => token === "at");
      const { line, position, id, before } = cat;
      assertEquals({ line, position, id, before }, {
        line: 1,
        position: 4,
        id: idOf("at"),
        before: "<s>the c",
      });
      assertEquals(cat.logp, logp[3]);
      assertEquals((await run("batch", out, "--out", again)).code, 0);
      for (const name of ["logp", "entropy"]) {
        assertEquals(read(again).tensors.get(name), tensors.get(name));
      }
      const refused: readonly (readonly [string[], RegExp])[] = [
        [["--model", `${folder}/model`], /--batch or --text is required/],
        [["--checkpoint", "a", "--text", "b"], /--text is for --model, whose folder/],
      ];
      for (const [flags, sentence] of refused) {
        const result = await agentrlHere(["score", "--out", `${folder}/none`, ...flags]);
        assertRefused(result, { code: 2, sentence });
      }
    }),
  { sys: ["systemMemoryInfo"] },
);
