/** Holds the vectors to what they claim: dialects and mistakes can be told apart, files are small and the same every time. */
import { assert, assertEquals } from "@std/assert";
import { vectorFile, vectorFileSchema, vectorFileText } from "../../src/vectors/document.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import type { Family } from "../../src/vectors/family.ts";
import { arraysDistance, predictionsOf } from "../../src/vectors/predictions.ts";
import { type Arrays, float32Digits } from "../../src/vectors/values.ts";

/** Of all files, one after the other. Raise the version of the form where an answer that was right changes. */
const SHA256 = "20486e9e8d52faadd591f4458972ad063b6cc2b78224862bfbf2f06542bf3048";

type Answers = (id: string) => Arrays;

/** How far two trainers are apart in the vector that tells most, in tolerances; each is the expected one in turn. */
function separation({ cases, tolerance }: Family, a: Answers, b: Answers): number {
  return Math.max(...cases.map(({ id }) =>
    Math.min(
      arraysDistance(a(id), b(id), tolerance),
      arraysDistance(b(id), a(id), tolerance),
    )
  ));
}

/** Float32 puts a result anywhere within one tolerance, so two trainers are told apart from twice that on; this is more. */
const APART = 4;

for (const family of VECTOR_FAMILIES) {
  Deno.test(`vectors ${family.name}: every dialect and mistake can be told from every dialect`, () => {
    const predictions = predictionsOf(family);
    const right = predictions.map(({ dialect, outputs }) => ({
      name: dialect.name,
      answers: (id: string) => outputs.get(id)!,
    }));
    const wrong = predictions.flatMap(({ dialect, outputs, mistaken }) =>
      mistaken.map((one) => ({
        name: `${dialect.name} with ${one.mistake.name}`,
        answers: (id: string) => one.outputs.get(id) ?? outputs.get(id)!,
      }))
    );
    const close: string[] = [];
    for (const [i, a] of right.entries()) {
      for (const b of [...right.slice(i + 1), ...wrong]) {
        if (separation(family, a.answers, b.answers) < APART) close.push(`${a.name} | ${b.name}`);
      }
    }
    assertEquals(close, []);
    const made = new Set(
      predictions.flatMap(({ mistaken }) => mistaken.map((m) => m.mistake.name)),
    );
    assertEquals([...made].sort(), family.mistakes.map(({ name }) => name).sort());
    assert(family.mistakes.length >= 12, `${family.mistakes.length} mistakes`);
  });

  Deno.test(`vectors ${family.name}: names are unique, inputs are float32, the file has its schema`, () => {
    for (
      const named of [
        family.dialects,
        family.mistakes,
        family.cases.map(({ id }) => ({ name: id })),
      ]
    ) {
      const names = named.map(({ name }) => name);
      assertEquals(names.length, new Set(names).size);
    }
    for (const { id, inputs, sameAs } of family.cases) {
      for (const [name, { shape, values }] of Object.entries(inputs)) {
        assertEquals(
          values.length,
          shape.reduce((product, size) => product * size, 1),
          `${id} ${name}`,
        );
        for (const value of values) {
          assert(Object.is(Math.fround(value), value), `${id} ${name} ${value}`);
        }
      }
      const grids = Object.values(inputs).filter(({ shape }) => shape.length === 2);
      assertEquals(new Set(grids.map(({ shape }) => shape.join())).size <= 1, true, id);
      if (sameAs !== undefined) assert(family.cases.some((one) => one.id === sameAs), id);
    }
    const file = vectorFile(family);
    assertEquals(vectorFileSchema.parse(JSON.parse(vectorFileText(file))), file);
  });
}

Deno.test("float32Digits() writes the bits of float32, and NaN in one way", () => {
  assertEquals(
    [1, -2, 0, Infinity, NaN, 0.1].map(float32Digits),
    ["3f800000", "c0000000", "00000000", "7f800000", "7fc00000", "3dcccccd"],
  );
});

/** Up to the order of rows and padding: the loss itself, or all numbers in order of size. */
function unordered(outputs: Arrays): number[] {
  return Object.values(outputs).flatMap(({ values }) =>
    values.filter((value) => value !== 0).toSorted((a, b) => a - b)
  );
}

Deno.test("cases that say so give the same as another, in every dialect", () => {
  let pairs = 0;
  for (const { name, cases, dialects } of VECTOR_FAMILIES) {
    // The dialects of cuts that are not global are those in which a cut shows.
    const all = name === "cuts"
      ? dialects.filter((one) => one.name.startsWith("global"))
      : dialects;
    for (const one of cases) {
      const base = cases.find(({ id }) => id === one.sameAs);
      if (base === undefined) continue;
      for (const { name: dialect, compute } of all) {
        // Padding is part of what this dialect divides by.
        if (one.id === "padded" && dialect.includes("sum_norm")) continue;
        const [got, expected] = [unordered(compute(one)), unordered(compute(base))];
        assertEquals(got.length, expected.length, `${one.id} ${dialect}`);
        for (const [i, value] of expected.entries()) {
          assert(Math.abs(got[i]! - value) <= 1e-12, `${name} ${one.id} ${dialect}`);
        }
        pairs++;
      }
    }
  }
  assert(pairs > 100, `${pairs}`);
});

Deno.test("the files of all families are the same bytes every time, below 5 MB", async () => {
  const text = VECTOR_FAMILIES.map((family) => vectorFileText(vectorFile(family))).join("");
  const bytes = new TextEncoder().encode(text);
  assert(bytes.length < 5e6, `${bytes.length} bytes`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  assertEquals(digest.toHex(), SHA256);
});
