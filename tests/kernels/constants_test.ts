/** Sizes that host and shaders share by value: a change on one side alone must not go unseen. */
import { assertEquals } from "@std/assert";
import {
  CLIP_ADAM,
  GRADIENT_NORM,
  GRADIENT_REDUCE,
  NORM_BLOCK,
} from "../../src/kernels/clip_adam.ts";
import { GROUPED_ATTENTION_FORWARD, KEY_SEGMENT } from "../../src/kernels/grouped_attention.ts";
import { LOGPROB_FORWARD, SEGMENT_ENTRIES } from "../../src/kernels/logprob.ts";
import { ROW_CHUNKS } from "../../src/kernels/operands.ts";
import {
  ROLLOUT_DECODE,
  SLOT_FIELD,
  SLOT_STATUS,
  SLOT_WORDS,
  WORKGROUP_SLOTS,
} from "../../src/kernels/sample.ts";
import type { KernelSpec } from "../../src/gpu/kernel.ts";

/** The value of `const NAME = …u;` in a kernel or what it shares; NaN where there is none. */
function constantOf({ wgsl, shared }: KernelSpec, name: string): number {
  const text = [wgsl, ...shared].join("\n");
  return Number(new RegExp(`^const ${name} = (\\d+)u;`, "m").exec(text)?.[1] ?? NaN);
}

Deno.test("host and shaders cut sums into the same pieces", () => {
  assertEquals(constantOf(GRADIENT_REDUCE, "CHUNKS"), ROW_CHUNKS);
  assertEquals(4 * constantOf(GRADIENT_NORM, "BLOCK4"), NORM_BLOCK);
  assertEquals(constantOf(LOGPROB_FORWARD, "SEGMENT"), SEGMENT_ENTRIES);
  assertEquals(constantOf(GROUPED_ATTENTION_FORWARD, "KEY_SEGMENT"), KEY_SEGMENT);
  assertEquals(constantOf(CLIP_ADAM, "CHUNKS"), NaN);
});

Deno.test("host and shaders lay out slots alike", () => {
  assertEquals(constantOf(ROLLOUT_DECODE, "SLOTS"), WORKGROUP_SLOTS);
  const text = ROLLOUT_DECODE.shared.join("\n");
  const struct = /struct Slot \{([^}]*)\}/.exec(text)?.[1] ?? "";
  const fields = [...struct.matchAll(/(\w+): (?:u32|array<u32, (\d+)>)/g)];
  const words = fields.map(([, , count = "1"]) => Number(count));
  const offsets = fields.map(([, name = ""], i) => {
    const camel = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    return [camel, words.slice(0, i).reduce((sum, n) => sum + n, 0)];
  });
  assertEquals(Object.fromEntries(offsets), { ...SLOT_FIELD });
  assertEquals(words.reduce((sum, n) => sum + n, 0), SLOT_WORDS);
  for (const [name, value] of Object.entries(SLOT_STATUS)) {
    assertEquals(constantOf(ROLLOUT_DECODE, `SLOT_${name.toUpperCase()}`), value);
  }
});
