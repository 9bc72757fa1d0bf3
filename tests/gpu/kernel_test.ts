/** Tests of src/gpu/kernel.ts: host records against their WGSL, the lowering of operands, parameters. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type KernelSpec,
  lowerOperands,
  packParams,
  parseWgslInterface,
} from "../../src/gpu/kernel.ts";
import { allSpecs, namesIn } from "./all_specs.ts";

const ROOT = new URL("../../", import.meta.url);
/** WebGPU's default limits per shader stage. */
const MAX_STORAGE_BUFFERS = 8;
const MAX_STORAGE_TEXTURES = 4;

Deno.test("every kernel spec says what its WGSL says", async () => {
  const specs = await allSpecs();
  assert(specs.length >= 20, `only ${specs.length} specs were found`);
  for (const spec of specs) {
    const { entryPoints, params, bindings, overrides } = parseWgslInterface(spec.wgsl);
    assertEquals(entryPoints, [spec.name]);
    assertEquals(params, spec.params, spec.name);
    assertEquals(bindings, spec.bindings, spec.name);
    assertEquals(overrides, spec.overrides, spec.name);
  }
});

Deno.test("every entry point in shaders/ has exactly one spec", async () => {
  const stems = namesIn("shaders/", ".wgsl")
    .filter((name) => Deno.readTextFileSync(new URL(`shaders/${name}`, ROOT)).includes("@compute"))
    .map((name) => name.slice(0, -".wgsl".length));
  const names = (await allSpecs()).map(({ name }) => name);
  assertEquals(names.sort(), stems);
});

Deno.test("every kernel stays within the default limits in both memories", async () => {
  for (const { name, bindings } of await allSpecs()) {
    const textures = bindings.filter(({ memory }) => memory !== "storage").length;
    assert(bindings.length <= MAX_STORAGE_BUFFERS, `${name} needs ${bindings.length} buffers`);
    assert(textures <= MAX_STORAGE_TEXTURES, `${name} needs ${textures} storage textures`);
  }
});

Deno.test("parseWgslInterface() notices each side that could drift", () => {
  const wgsl = [
    "struct Params { count: u32, scale: f32 }",
    "@group(0) @binding(0) var<uniform> params: Params;",
    "@group(0) @binding(1) var x: texture_storage_2d<rgba32float, read>;",
    "@group(0) @binding(2) var<storage, read_write> y: array<vec4f>;",
    "override LANES: u32 = 8;",
    "@compute @workgroup_size(LANES)",
    "fn doubled() {}",
  ].join("\n");
  assertEquals(parseWgslInterface(wgsl), {
    entryPoints: ["doubled"],
    params: [["count", "u32"], ["scale", "f32"]],
    bindings: [
      { name: "x", memory: "operand", access: "read" },
      { name: "y", memory: "storage", access: "read_write" },
    ],
    overrides: ["LANES"],
  });
  assertThrows(
    () => parseWgslInterface(wgsl.replace("@binding(2)", "@binding(3)")),
    SyntaxError,
    "binding 3 of y stands at place 2",
  );
});

Deno.test("lowerOperands() turns nested calls into indices and keeps every line", () => {
  const wgsl = [
    "@group(0) @binding(1) var a: texture_storage_2d<rgba32float, read>;",
    "@group(0) @binding(2) var b: texture_storage_2d<rgba32float, write>;",
    "fn f() {",
    "  textureStore(b, at(1u, g(2u)), textureLoad(a, at(h[3u], 4u)) *",
    "    textureLoad(a, vec2u(textureLoad(a, p).x, 0u)));",
    "}",
  ].join("\n");
  assertEquals(lowerOperands(wgsl).split("\n"), [
    "@group(0) @binding(1) var<storage, read> a: array<vec4f>;",
    "@group(0) @binding(2) var<storage, read_write> b: array<vec4f>;",
    "fn f() {",
    "  b[(at(1u, g(2u))).x] = a[(at(h[3u], 4u)).x] *",
    "    a[(vec2u(a[(p).x].x, 0u)).x];",
    "}",
  ]);
});

Deno.test("lowerOperands() keeps the line numbers of every shader", async () => {
  for (const { name, wgsl } of await allSpecs()) {
    const lowered = lowerOperands(wgsl);
    assertEquals(lowered.split("\n").length, wgsl.split("\n").length, name);
    assert(!/texture(Load|Store|_storage)/.test(lowered.replace(/\/\/.*/g, "")), name);
  }
});

Deno.test("lowerOperands() refuses a parenthesis that is never closed", () => {
  assertThrows(() => lowerOperands("textureLoad(a, at"), SyntaxError, "never closed");
});

Deno.test("packParams() writes little-endian words in the spec's order", () => {
  const spec = { ...SPEC, params: [["count", "u32"], ["scale", "f32"]] } as const;
  const view = new DataView(new ArrayBuffer(16));
  packParams(spec, { scale: 0.5, count: 0xfffffffe }, { view, offset: 4 });
  const words = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  assertEquals(words, [0, 0xfffffffe, 0x3f000000, 0]);
});

const SPEC: KernelSpec = {
  name: "doubled",
  wgsl: "",
  shared: [],
  params: [["count", "u32"]],
  bindings: [],
  overrides: [],
  iterations: () => 0,
};

Deno.test("packParams() refuses missing parameters and what is no 32-bit integer", () => {
  const view = new DataView(new ArrayBuffer(16));
  assertThrows(() => packParams(SPEC, {}, { view, offset: 0 }), TypeError, "count is missing");
  for (const count of [-1, 0.5, 2 ** 32, NaN]) {
    const pack = () => packParams(SPEC, { count }, { view, offset: 0 });
    assertThrows(pack, RangeError, `count is ${count}`);
  }
});

Deno.test("packParams() refuses parameters that the kernel does not have", () => {
  const view = new DataView(new ArrayBuffer(16));
  const pack = () => packParams(SPEC, { count: 1, cuont: 2 }, { view, offset: 0 });
  assertThrows(pack, TypeError, "cuont");
});
