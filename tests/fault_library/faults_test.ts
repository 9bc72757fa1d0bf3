/** The fault library as data: at least 90 faults, each in the half of its name, each patch at one place alone. */
import { assert, assertEquals } from "@std/assert";
import { applyPatch, FAULT_KINDS, halfOf, nearOf } from "./fault.ts";
import { DEVELOPMENT, HELD_OUT, PLANTED } from "./faults.ts";
import { FAULT_NAMES } from "../../src/faults/faults.ts";
import { resolveConfig } from "../../src/rl/config.ts";

Deno.test("halfOf() takes the parity of the 32-bit FNV-1a hash", () => {
  // 0x811c9dc5 for the empty text and 0xe40c292c for "a": http://www.isthe.com/chongo/tech/comp/fnv.
  assertEquals(halfOf(""), "held-out");
  assertEquals(halfOf("a"), "development");
});

Deno.test("the library holds at least 90 faults of every kind, with names of their own", () => {
  assert(PLANTED.length >= 90, `${PLANTED.length} faults`);
  const names = PLANTED.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  assertEquals(new Set(PLANTED.map(({ kind }) => kind)), new Set(FAULT_KINDS));
});

Deno.test("each fault is in the half that its name says", () => {
  for (const { name } of DEVELOPMENT) assertEquals(halfOf(name), "development", name);
  for (const { name } of HELD_OUT) assertEquals(halfOf(name), "held-out", name);
});

Deno.test("each patch applies exactly once, and changes its file", () => {
  for (const { name, patches } of PLANTED) {
    const texts = new Map<string, string>();
    for (const patch of patches) {
      const text = texts.get(patch.file) ?? Deno.readTextFileSync(patch.file);
      texts.set(patch.file, applyPatch(text, patch));
    }
    for (const [file, text] of texts) {
      assert(text !== Deno.readTextFileSync(file), `${name} leaves ${file} as it was`);
    }
  }
});

Deno.test("applyPatch() refuses a text that is missing or stands twice", () => {
  const patch = { file: "x.ts", find: "a", put: "$&" };
  assertEquals(applyPatch("bab", patch), "b$&b");
  for (const text of ["b", "aa"]) {
    let message = "";
    try {
      applyPatch(text, patch);
    } catch (error) {
      message = String(error);
    }
    assert(message.includes("Cannot patch x.ts"), message);
  }
});

Deno.test("settings of a fault are allowed, its causes are known, and it begins within a run", () => {
  const causes: readonly string[] = FAULT_NAMES;
  for (const fault of PLANTED) {
    const { name, settings = [], named, begins, resumeAt } = fault;
    resolveConfig({ flags: { algorithm: "grpo" }, sets: settings });
    for (const cause of [...named, ...nearOf(fault)]) {
      assert(causes.includes(cause), `${name}: ${cause}`);
    }
    assert(begins >= 0 && begins < 24, name);
    assert(resumeAt === undefined || begins >= resumeAt, name);
  }
});
