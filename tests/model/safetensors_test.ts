/** Tests of src/model/safetensors.ts: golden files, every refusal, and damaged files. */
import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import {
  parseSafetensors,
  requireTensor,
  serializeSafetensors,
  type TensorFile,
} from "../../src/model/safetensors.ts";

const GOLDEN = new URL("../golden/", import.meta.url);

/** A file with the given header text and data, right or wrong. */
function makeFile(
  header: string,
  dataBytes: number,
  headerBytes?: bigint,
): Uint8Array<ArrayBuffer> {
  const json = new TextEncoder().encode(header);
  const bytes = new Uint8Array(8 + json.length + dataBytes);
  new DataView(bytes.buffer).setBigUint64(0, headerBytes ?? BigInt(json.length), true);
  bytes.set(json, 8);
  return bytes;
}

const SMALL: TensorFile = {
  metadata: { note: 'ends with "}" and \\ and é', empty: "" },
  tensors: new Map([
    ["z.weight", { dtype: "F32", shape: [2, 3], data: Float32Array.of(1, -2, 3, NaN, -0, 1e-40) }],
    ["7", { dtype: "I32", shape: [1], data: Int32Array.of(-5) }],
    ["scalar", { dtype: "F32", shape: [], data: Float32Array.of(0.5) }],
    ["nothing", { dtype: "I32", shape: [0, 4], data: new Int32Array() }],
    ["__proto__", { dtype: "F32", shape: [1], data: Float32Array.of(9) }],
  ]),
};

Deno.test("serializeSafetensors() keeps the tensors and texts of a PyTorch file when it is parsed and written", () => {
  for (const name of ["model", "batch"]) {
    const bytes = Deno.readFileSync(new URL(`${name}.safetensors`, GOLDEN));
    const file = parseSafetensors(bytes, name);
    const written = serializeSafetensors(file);
    const again = parseSafetensors(written, name);
    assertEquals([...again.tensors], [...file.tensors]);
    assertEquals(again.metadata, file.metadata);
  }
});

Deno.test("parseSafetensors() reads the golden model as 157,244 numbers without copying them", () => {
  const bytes = Deno.readFileSync(new URL("model.safetensors", GOLDEN));
  const { tensors, metadata } = parseSafetensors(bytes, "model");
  let count = 0;
  for (const { dtype, data } of tensors.values()) {
    assertEquals(dtype, "F32");
    assert(data.buffer === bytes.buffer);
    count += data.length;
  }
  assertEquals(count, 157_244);
  assertEquals(metadata.params, "157244");
});

Deno.test("parseSafetensors() returns what serializeSafetensors() took when names are odd and shapes degenerate", () => {
  const bytes = serializeSafetensors(SMALL);
  assertEquals(new DataView(bytes.buffer).getUint32(0, true) % 8, 0);
  const file = parseSafetensors(bytes, "a");
  assertEquals(new Map(file.tensors), SMALL.tensors);
  assertEquals({ ...file.metadata }, SMALL.metadata);
  // In a buffer where nothing is aligned the values are copied, and the same.
  const shifted = new Uint8Array(bytes.length + 1).subarray(1);
  shifted.set(bytes);
  assertEquals(new Map(parseSafetensors(shifted, "a").tensors), SMALL.tensors);
});

Deno.test("serializeSafetensors() refuses data that does not fill its shape", () => {
  const tensors = new Map([[
    "a",
    { dtype: "F32", shape: [2], data: new Float32Array(3) } as const,
  ]]);
  assertThrows(
    () => serializeSafetensors({ tensors, metadata: {} }),
    RangeError,
    "needs 2 values, found 3",
  );
});

Deno.test("parseSafetensors() refuses a wrong file with one sentence that says what was found", () => {
  const tensor = (fields: string) =>
    `{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]${fields}}}`;
  const cases: readonly (readonly [Uint8Array<ArrayBuffer>, string])[] = [
    [new Uint8Array(), "holds 0 bytes"],
    [new TextEncoder().encode("#!/bin/sh\necho hello\n"), "not a safetensors file"],
    [makeFile("{}", 0, 2n ** 63n), "claims 9223372036854775808 bytes; at most 16777216"],
    [makeFile("{}", 0, 100n), "truncated: its header needs 108 bytes, the file holds 10"],
    [makeFile("{", 2, 1n), "not valid JSON ("],
    [makeFile("{\xff", 2), "header is not valid JSON"],
    [makeFile("{}", 4), "4 bytes after the last tensor"],
    [makeFile(tensor(""), 7), 'truncated: tensor "a" ends at byte 8 of 7'],
    [makeFile(tensor(',"dtype":"F32"'), 8), 'holds "dtype" twice'],
    [makeFile('{"__metadata__":{"x":1}}', 0), "__metadata__ must be an object of texts"],
    [makeFile('{"__metadata__":[]}', 0), "__metadata__ must be"],
    [makeFile('{"a":3}', 0), 'tensor "a" is not described by an object'],
    [
      makeFile('{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}', 8),
      'dtype "I64"; F32 and I32',
    ],
    [makeFile('{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}', 8), "[3] needs 12 bytes"],
    [makeFile('{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}', 8), "shape [-1]"],
    [
      makeFile('{"a":{"dtype":"F32","shape":[1e300,1e300],"data_offsets":[0,8]}}', 8),
      "shape [1e+300",
    ],
    [makeFile('{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}', 8), "span -8"],
    [
      makeFile('{"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}', 12),
      "leaves a hole before it",
    ],
    [makeFile('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}}', 8), "data_offsets [0]"],
    [
      makeFile(
        '{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\\u0061":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}',
        8,
      ),
      'holds "a" twice',
    ],
    [
      makeFile(
        '{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}}',
        12,
      ),
      'tensor "b" overlaps another',
    ],
  ];
  for (const [bytes, reason] of cases) {
    const error = assertThrows(() => parseSafetensors(bytes, "x.safetensors"), UserError, reason);
    assertStringIncludes(error.message, "Cannot read x.safetensors: ");
    assert(!error.message.includes("\n"));
  }
});

Deno.test("parseSafetensors() refuses every truncation of a file", () => {
  const bytes = serializeSafetensors(SMALL);
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => parseSafetensors(bytes.slice(0, length), "x"), UserError);
  }
});

Deno.test("parseSafetensors() refuses or reads a mutated file and never fails otherwise", () => {
  const original = serializeSafetensors(SMALL);
  let state = 1;
  // Park and Miller's minimal standard generator; the test needs variety, not quality.
  const next = (below: number) => (state = state * 48271 % 2147483647) % below;
  let refused = 0;
  const rounds = 20_000;
  for (let round = 0; round < rounds; round++) {
    const bytes = original.slice();
    for (let change = next(3); change >= 0; change--) bytes[next(bytes.length)] = next(256);
    try {
      const { tensors } = parseSafetensors(bytes, "x");
      for (const { shape, data } of tensors.values()) {
        assertEquals(data.length, shape.reduce((product, size) => product * size, 1));
      }
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      refused++;
    }
  }
  // Most of the file is header, where most changes do harm; most of the data may change freely.
  assert(refused > rounds / 4 && refused < rounds);
});

Deno.test("parseSafetensors() reads or refuses headers of the largest size in one pass", () => {
  const long = "x".repeat(15 * 2 ** 20);
  const { metadata } = parseSafetensors(makeFile(`{"__metadata__":{"a":"${long}"}}`, 0), "x");
  assertEquals(metadata.a?.length, long.length);
  const nested = "[".repeat(2 ** 20) + "]".repeat(2 ** 20);
  const refuse = (header: string, reason: string) =>
    assertThrows(() => parseSafetensors(makeFile(header, 0), "x"), UserError, reason);
  refuse(`{"${long}":{"dtype":"I64"}}`, "F32 and I32 are allowed");
  refuse(`{"a":{"dtype":${nested}}}`, "dtype of nested values");
  refuse(`{"a":{"dtype":"F32","shape":${nested}}}`, "shape of nested values");
});

Deno.test("requireTensor() names what is missing or of another dtype or shape", () => {
  const require = (name: string, shape: readonly (number | null)[], dtype: "F32" | "I32" = "F32") =>
    requireTensor(SMALL, name, { dtype, shape, fileName: "x" });
  assertEquals(require("z.weight", [2, null]).data.length, 6);
  assertThrows(
    () => require("z.wieght", [2, 3]),
    UserError,
    'no tensor "z.wieght"; did you mean "z.weight"?',
  );
  assertThrows(
    () => require("z.weight", [3, 2]),
    UserError,
    "is F32 [2, 3], required is F32 [3, 2]",
  );
  assertThrows(() => require("z.weight", [2]), UserError, "required is F32 [2]");
  assertThrows(() => require("z.weight", [2, null], "I32"), UserError, "required is I32 [2, any]");
});
