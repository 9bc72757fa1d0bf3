/** Tests of `agentrl grad`, once as a child process: PyTorch's losses, gradients and Adam steps, and one sentence for bad input. */
import { assert, assertEquals } from "@std/assert";
import {
  parseSafetensors,
  serializeSafetensors,
  type Tensor,
  type TensorFile,
} from "../../src/model/safetensors.ts";
import { globalNorm } from "../../src/reference/clip_adam.ts";
import { LOSS_NAMES } from "../../src/rl/named_losses.ts";
import { readGolden, readGoldenScalars } from "../reference/golden.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, golden, namesIn } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";
import { changedCopy, setEntry, write } from "./damaged_files.ts";

/** For f32 on a GPU. */
const LOSS_TOLERANCE = 1e-5;
/** Of the gradient's norm, and of its largest entry; a plain f32 run of PyTorch is off by 8e-7. */
const GRADIENT_TOLERANCE = 1e-4;

const SCALARS = readGoldenScalars();
const MODEL = readGolden("model");

interface Files {
  readonly checkpoint?: string;
  readonly batch?: string;
  readonly out: string;
}

function gradArguments(files: Files, loss: string, ...flags: string[]): string[] {
  const { checkpoint = golden("model.safetensors"), batch = golden("batch.safetensors") } = files;
  const paths = ["--checkpoint", checkpoint, "--batch", batch, "--out", files.out];
  return ["grad", ...paths, "--loss", loss, ...flags];
}

const grad = (...args: Parameters<typeof gradArguments>) => agentrlHere(gradArguments(...args));

/** All parameters one after another, in the order of the golden model. */
function flat(arrays: (name: string) => ArrayLike<number> | undefined): Float64Array {
  return Float64Array.from(
    Object.keys(MODEL).flatMap((name) => {
      const array = arrays(name);
      assert(array, `${name} is missing`);
      return Array.from(array);
    }),
  );
}

function flatGolden(name: string): Float64Array {
  const tensors = readGolden(name);
  return flat((parameter) => tensors[parameter]);
}

function flatFile({ tensors }: TensorFile, prefix = ""): Float64Array {
  return flat((parameter) => tensors.get(prefix + parameter)?.data);
}

function distance(a_W: Float64Array, b_W: Float64Array): { norm: number; largest: number } {
  const difference_W = a_W.map((a, w) => a - b_W[w]);
  return { norm: globalNorm(difference_W), largest: largestOf(difference_W) };
}

function largestOf(values_W: Float64Array): number {
  return values_W.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
}

function assertNear(found: number, expected: number, tolerance: number): void {
  const error = Math.abs(found - expected);
  assert(error <= tolerance, `${found} is off ${expected} by ${error}`);
}

for (const loss of LOSS_NAMES) {
  commandTest(
    `agentrl grad gives PyTorch's ${loss} and its gradient`,
    () =>
      withFolder(async (folder) => {
        const constant = loss === "reinforce_constant" ? ["--norm-const", "1152"] : [];
        const { code, stdout, stderr } = await grad(
          { out: `${folder}/out` },
          loss,
          "--json",
          ...constant,
        );
        assertEquals([code, stderr], [0, ""]);
        const expected = SCALARS[loss] as { readonly loss: number; readonly grad_norm: number };
        const document = JSON.parse(stdout);
        assertEquals(Object.keys(document), ["loss", "gradNorm"]);
        assertNear(document.loss, expected.loss, LOSS_TOLERANCE);
        assertNear(document.gradNorm, expected.grad_norm, GRADIENT_TOLERANCE * expected.grad_norm);

        const file = parseSafetensors(Deno.readFileSync(`${folder}/out`), "out");
        assertEquals([...file.tensors.keys()], Object.keys(MODEL));
        const gradient_W = flatFile(file);
        assertNear(
          globalNorm(gradient_W),
          expected.grad_norm,
          GRADIENT_TOLERANCE * expected.grad_norm,
        );
        if (loss === "reinforce_token_mean" || loss === "ppo_k3_entropy") {
          const golden_W = flatGolden(`grad_${loss}`);
          const { norm, largest } = distance(gradient_W, golden_W);
          assert(norm <= GRADIENT_TOLERANCE * globalNorm(golden_W), `off by ${norm}`);
          assert(
            largest <= GRADIENT_TOLERANCE * largestOf(golden_W),
            `one entry off by ${largest}`,
          );
        }
      }),
  );
}

Deno.test("agentrl grad --adam-steps 3 gives PyTorch's weights after three clipped steps", () =>
  withFolder(async (folder) => {
    const flags = ["--adam-steps", "3", "--lr", "1e-3", "--max-grad-norm", "0.05", "--json"];
    const { code, stdout } = await agentrl(
      gradArguments({ out: `${folder}/out` }, "ppo_k3_entropy", ...flags),
    );
    assertEquals(code, 0);
    const { steps } = JSON.parse(stdout);
    assertEquals(steps.length, 3);
    SCALARS.adam3.forEach((expected, i) => {
      assertNear(steps[i].loss, expected.loss, LOSS_TOLERANCE);
      assertNear(
        steps[i].gradNorm,
        expected.grad_norm,
        // From the second step on the weights differ too, by up to a thousandth of what they moved.
        (i === 0 ? 1 : 10) * GRADIENT_TOLERANCE * expected.grad_norm,
      );
    });
    const file = parseSafetensors(Deno.readFileSync(`${folder}/out`), "out");
    const start_W = flatGolden("model"), golden_W = flatGolden("adam3");
    const { norm, largest } = distance(flatFile(file, "stepped/"), golden_W);
    const moved = distance(start_W, golden_W).norm;
    assert(moved > 0.1, "three steps must move the weights");
    assert(norm <= 1e-3 * moved, `off by ${norm} after moving by ${moved}`);
    assert(largest <= 2e-3, `one weight is off by ${largest}`);
    // The gradient beside them is the first step's, before the clip.
    assertNear(globalNorm(flatFile(file)), SCALARS.adam3[0].grad_norm, GRADIENT_TOLERANCE);
  }));

/** An episode of two tokens beside one of four, so that two columns of the first are pads. */
function paddedBatch(folder: string, actionMask_BC: readonly number[]): string {
  const i32 = (values: readonly number[]): Tensor => ({
    dtype: "I32",
    shape: [2, 4],
    data: Int32Array.from(values),
  });
  const f32 = (shape: readonly number[], values: readonly number[]): Tensor => ({
    dtype: "F32",
    shape,
    data: Float32Array.from(values),
  });
  const tensors = new Map([
    ["ids", i32([3, 3, 0, 0, 3, 3, 3, 3])],
    ["owner", i32([1, 2, 0, 0, 1, 2, 2, 2])],
    ["action_mask", f32([2, 3], actionMask_BC)],
    ["advantages", f32([2], [1, 1])],
  ]);
  return write(folder, serializeSafetensors({ tensors, metadata: {} }));
}

commandTest("agentrl grad trains on no pad", () =>
  withFolder(async (folder) => {
    const batch = paddedBatch(folder, [1, 0, 0, 1, 1, 1]);
    const { code, stdout } = await grad(
      { batch, out: `${folder}/out` },
      "reinforce_token_mean",
      "--json",
    );
    assertEquals(code, 0);
    const { loss, gradNorm } = JSON.parse(stdout);
    // With the pad behind the first episode these would be 1.751 and 2.965.
    assertNear(loss, 0.030880, LOSS_TOLERANCE);
    assertNear(gradNorm, 0.88299, LOSS_TOLERANCE);
  }));

commandTest("agentrl grad refuses bad input with one sentence and writes nothing", async (t) => {
  const cases: readonly (readonly [
    what: string,
    loss: string,
    files: (folder: string) => Omit<Files, "out">,
    sentence: RegExp,
    flags?: readonly string[],
    code?: 1,
  ])[] = [
    [
      "an unknown loss",
      "ppo_k3",
      () => ({}),
      /--loss must be one of reinforce_token_mean, .*, cross_entropy, found "ppo_k3"/,
    ],
    ["no norm constant", "reinforce_constant", () => ({}), /needs --norm-const/],
    [
      "a norm constant without effect",
      "cross_entropy",
      () => ({}),
      /--norm-const has no effect on --loss cross_entropy/,
      ["--norm-const", "3"],
    ],
    [
      "a learning rate without steps",
      "cross_entropy",
      () => ({}),
      /no effect without --adam-steps/,
      ["--lr", "0.1"],
    ],
    [
      "a batch without advantages",
      "reinforce_token_mean",
      (f) => ({ batch: changedCopy(f, "batch", (tensors) => tensors.delete("advantages")) }),
      /the loss reinforce_token_mean needs the tensor "advantages"/,
    ],
    [
      "a batch without old log-probs",
      "ppo_clip_token_mean",
      (f) => ({ batch: changedCopy(f, "batch", (tensors) => tensors.delete("old_logp")) }),
      /needs the tensor "old_logp"/,
    ],
    [
      "a batch without reference log-probs",
      "ppo_k3_entropy",
      (f) => ({ batch: changedCopy(f, "batch", (tensors) => tensors.delete("ref_logp")) }),
      /needs the tensor "ref_logp"/,
    ],
    [
      "a mask without a trained token",
      "cross_entropy",
      (f) => ({
        batch: changedCopy(f, "batch", (tensors) => tensors.get("action_mask")?.data.fill(0)),
      }),
      /the loss cross_entropy has no token to train on/,
    ],
    [
      "a mask of another shape",
      "cross_entropy",
      (f) => ({
        batch: changedCopy(f, "batch", (tensors) =>
          tensors.set("action_mask", {
            dtype: "F32",
            shape: [32, 41],
            data: new Float32Array(32 * 41),
          })),
      }),
      /tensor "action_mask" is F32 \[32, 41\], required is F32 \[32, 40\]/,
    ],
    [
      "a negative mask",
      "cross_entropy",
      (f) => ({ batch: changedCopy(f, "batch", setEntry("action_mask", 41, -1)) }),
      /action_mask at episode 1, position 1 is -1, but must be 0 or 1/,
    ],
    [
      "half a mask",
      "cross_entropy",
      (f) => ({ batch: changedCopy(f, "batch", setEntry("action_mask", 41, 0.5)) }),
      /action_mask at episode 1, position 1 is 0.5, but must be 0 or 1/,
    ],
    [
      "a mask that is large",
      "cross_entropy",
      (f) => ({ batch: changedCopy(f, "batch", setEntry("action_mask", 41, 1e38)) }),
      /action_mask at episode 1, position 1 is 9\.99\S+e\+37, but must be 0 or 1/,
    ],
    [
      "a mask on a pad",
      "ppo_k3_entropy",
      (f) => ({ batch: paddedBatch(f, [1, 1, 0, 1, 1, 1]) }),
      /action_mask at episode 0, position 1 is 1, but must be 0 there, since .* \(position 2\) is 0/,
    ],
    [
      "an id beyond V",
      "cross_entropy",
      (f) => ({ batch: changedCopy(f, "batch", setEntry("ids", 1, 1000)) }),
      /the token id at episode 0, position 1 is 1000/,
    ],
    [
      "a NaN weight",
      "cross_entropy",
      (f) => ({ checkpoint: changedCopy(f, "model", setEntry("ln.bias", 0, NaN)) }),
      /Parameter "ln.bias" holds NaN at entry 0/,
      [],
      1,
    ],
    [
      "old log-probs so small that the ratio overflows",
      "ppo_clip_token_mean",
      (f) => ({
        batch: changedCopy(f, "batch", (tensors) => {
          for (let i = 0; i < 32 * 40; i++) setEntry("old_logp", i, -1000)(tensors);
        }),
      }),
      /The loss of .* is -?Infinity and the norm of its gradient .* nothing was written/,
      [],
      1,
    ],
  ];
  for (const [what, loss, files, sentence, flags = [], code = 2] of cases) {
    await t.step(what, () =>
      withFolder(async (folder) => {
        Deno.mkdirSync(`${folder}/out`);
        const result = await grad(
          { ...files(folder), out: `${folder}/out/gradient` },
          loss,
          ...flags,
        );
        assertRefused(result, { code, sentence });
        assertEquals(namesIn(`${folder}/out`), []);
      }));
  }
});
