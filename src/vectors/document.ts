/** A file of vectors: its schema, and how it is made from a family. */
import { z } from "zod";
import type { Family } from "./family.ts";
import { familyDigest, predictionsOf } from "./predictions.ts";
import { type Arrays, float32Digits, type JsonNumber, toJson, type Values } from "./values.ts";

/** Version of the files and of results; raised where an older reader would misread them. */
export const VECTORS_VERSION = 1;

const NAME = z.string().min(1);

/** A number; those that are not finite are texts. */
export const jsonNumber = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])])
  .meta({ id: "number" });

const array = z.object({
  shape: z.array(z.int().min(0)).describe("length of each axis, outermost first; [] is a scalar"),
  values: z.array(jsonNumber).describe("float64 in row-major order"),
  f32: z.array(z.string().regex(/^[0-9a-f]{8}$/)).describe("the same as bits of float32"),
}).meta({ id: "array" });

const arrays = z.record(NAME, array).meta({ id: "arrays" });
const texts = z.record(NAME, z.string()).meta({ id: "texts" });

/** What is known of a dialect or a mistake besides its outputs. */
const named = { name: NAME, sentence: z.string() };

/** One vector. */
export const vectorSchema = z.object({
  id: NAME,
  about: z.string().describe("what it is there for"),
  edge: z.boolean().describe("right trainers differ or fail here: told apart from the others"),
  sameAs: NAME.optional()
    .describe(
      "vector with the same outputs, up to the order of rows or padding; of cuts, by global dialects",
    ),
  inputs: arrays,
  config: z.record(NAME, z.number()),
  tolerance: z.object({
    relative: z.number().describe("share of the largest finite expected value of the array"),
    absolute: z.number().describe("added to it"),
    reason: z.string(),
  }),
  expected: z.record(NAME, arrays).describe("outputs by dialect"),
  mistaken: z.record(NAME, z.record(NAME, z.record(NAME, z.array(jsonNumber))))
    .describe("values by dialect, mistake and output, where they are not the dialect's"),
});

/** A file of vectors. */
export const vectorFileSchema = z.object({
  v: z.literal(VECTORS_VERSION).describe("version of the form"),
  family: NAME,
  sentence: z.string().describe("what the function does"),
  digest: NAME.describe("names these inputs; results repeat it"),
  inputs: texts,
  config: texts,
  outputs: texts,
  dialects: z.array(z.object({ ...named, usedBy: z.array(z.string()) })),
  mistakes: z.array(z.object(named)),
  vectors: z.array(vectorSchema),
});

/** A file of vectors. */
export type VectorFile = z.infer<typeof vectorFileSchema>;

function jsonArray({ shape, values }: Values): z.infer<typeof array> {
  return {
    shape: [...shape],
    values: values.map(toJson),
    f32: values.map((value) => float32Digits(value)),
  };
}

const jsonArrays = (all: Arrays) =>
  Object.fromEntries(Object.entries(all).map(([name, values]) => [name, jsonArray(values)]));

/** A prediction is compared with float32: ten digits are plenty, and the files stay small. */
const rounded = (value: number): JsonNumber => {
  const json = toJson(value);
  return typeof json === "number" ? Number(json.toPrecision(10)) : json;
};

/** The file of a family. */
export function vectorFile(family: Family): VectorFile {
  const { name, sentence, inputs, config, outputs, dialects, mistakes, cases, tolerance } = family;
  const predictions = predictionsOf(family);
  return {
    v: VECTORS_VERSION,
    family: name,
    sentence,
    digest: familyDigest(family),
    inputs: { ...inputs },
    config: { ...config },
    outputs: { ...outputs },
    dialects: dialects.map(({ name, sentence, usedBy }) => ({
      name,
      sentence,
      usedBy: [...usedBy],
    })),
    mistakes: mistakes.map(({ name, sentence }) => ({ name, sentence })),
    vectors: cases.map(({ id, about, isEdge, sameAs, inputs, config }) => ({
      id,
      about,
      edge: isEdge ?? false,
      ...(sameAs !== undefined && { sameAs }),
      inputs: jsonArrays(inputs),
      config: { ...config },
      tolerance: { ...tolerance },
      expected: Object.fromEntries(
        predictions.map((
          { dialect, outputs },
        ) => [dialect.name, jsonArrays(outputs.get(id) ?? {})]),
      ),
      mistaken: Object.fromEntries(
        predictions.map(({ dialect, mistaken }) => [
          dialect.name,
          Object.fromEntries(mistaken.flatMap(({ mistake, outputs }) => {
            const found = outputs.get(id);
            return found === undefined ? [] : [[
              mistake.name,
              Object.fromEntries(
                Object.entries(found).map(([key, { values }]) => [key, values.map(rounded)]),
              ),
            ]];
          })),
        ]),
      ),
    })),
  };
}

/** The text of a file: one vector a line, the same bytes every time. */
export function vectorFileText({ vectors, ...head }: VectorFile): string {
  const lines = vectors.map((vector) => JSON.stringify(vector)).join(",\n");
  return `${JSON.stringify(head).slice(0, -1)},"vectors":[\n${lines}\n]}\n`;
}

/** The schema of a file of vectors in JSON Schema's words. */
export function vectorFileJsonSchema(): object {
  return z.toJSONSchema(vectorFileSchema);
}
