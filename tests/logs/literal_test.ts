/** Tests of src/logs/literal.ts and fields.ts. */
import { assert, assertEquals } from "@std/assert";
import { jsonFields, numbersOf } from "../../src/logs/fields.ts";
import { numberOf, parseDict } from "../../src/logs/literal.ts";

function valuesIn(text: string): Record<string, unknown> | string {
  const dict = parseDict(text, Math.max(0, text.indexOf("{")));
  if (typeof dict === "string") return dict;
  return Object.fromEntries(dict.fields.map(({ key, value }) => [key, value]));
}

Deno.test("parseDict() reads what Python prints", () => {
  assertEquals(
    valuesIn(
      `x {'a': 1, "b": -2.5e-07, 'c': nan, 'd': -inf, 'e': None, 'f': True, 'g': '1.244e+04', 'h': .5, 'i': 3., }`,
    ),
    { a: 1, b: -2.5e-7, c: NaN, d: -Infinity, e: null, f: true, g: "1.244e+04", h: 0.5, i: 3 },
  );
  assertEquals(
    valuesIn(
      `{'a': np.float64(0.25), 'b': tensor(0.5, device='cuda:0'), 'c': tensor(nan), 'd': tensor([1, 2]), 'e': Array(1.5, dtype=float32), 'f': Decimal(2), 'g': <object at 0x7f>, 'h': array(-inf), 'i': tensor([[1.,\n 2.]])}`,
    ),
    {
      a: 0.25,
      b: 0.5,
      c: NaN,
      d: undefined,
      e: 1.5,
      f: undefined,
      g: undefined,
      h: -Infinity,
      i: undefined,
    },
  );
  assertEquals(valuesIn(`{'it\\'s': 1, "a\\u00e9\\n": 2, 'b"}': 3, 'c\\\\': 4}`), {
    "it's": 1,
    "aé\n": 2,
    'b"}': 3,
    "c\\": 4,
  });
  assertEquals(valuesIn("{'a': {'b': 1, 'c': {}}, 'd': [{'e': 2}, \"]\"], 'f': (1,)}"), {
    "a/b": 1,
    d: undefined,
    f: undefined,
  });
  assertEquals(valuesIn("{}"), {});
  assertEquals(valuesIn("'loss': 0.5, 'epoch': 1.0}"), { loss: 0.5, epoch: 1 });
});

Deno.test("parseDict() tells a dict that goes on from a text that is none", () => {
  const text =
    `{'a': np.float64(0.25), 'b': "x'}", 'c': nan, 'd': [1, {'e': 2}], 'f': -1.5e-07, 'g': None}`;
  for (let length = 1; length < text.length; length++) {
    assertEquals(parseDict(text.slice(0, length)), "unclosed", text.slice(0, length));
  }
  assert(typeof parseDict(text) !== "string");
  for (const bad of ["{1: 2}", "{'a' 1}", "{'a': 1 'b': 2}", "{'a': ]}", "{a: 1}", "{'a': 1; }"]) {
    assertEquals(parseDict(bad), "malformed", bad);
  }
});

Deno.test("parseDict() survives a million nested brackets, and a million backslashes", () => {
  const million = 1_000_000;
  assertEquals(parseDict(`{'a': ${"[".repeat(million)}`), "unclosed");
  assertEquals(parseDict(`{'a': ${"{'b': ".repeat(million)}`), "unclosed");
  const nested = `{'a': 1, 'n': ${"{'b': ".repeat(million)}2${"}".repeat(million)}, 'c': 3}`;
  const dict = parseDict(nested);
  assert(typeof dict !== "string");
  assertEquals(dict.fields.filter(({ value }) => value !== undefined).map(({ key }) => key), [
    "a",
    "c",
  ]);
  assertEquals(parseDict(`{'a': '${"\\".repeat(million)}`), "unclosed");
});

Deno.test("numberOf() reads numbers alone", () => {
  const numbers: readonly (readonly [string, number])[] = [
    ["1.244e+04", 12440],
    ["-0.000", -0],
    ["nan", NaN],
    ["-inf", -Infinity],
    ["Infinity", Infinity],
    ["np.float32(1e-3)", 0.001],
    ["np.float64(nan)", NaN],
  ];
  for (const [text, number] of numbers) assertEquals(numberOf(text), number, text);
  for (
    const text of ["", " ", "0x10", "1_000", "12/40", "3%", "1,5", "1e", "None", "true", "f(1)"]
  ) {
    assertEquals(numberOf(text), undefined, text);
  }
});

Deno.test("jsonFields() flattens objects, and allows what json.dumps writes", () => {
  const fields = (line: string) => jsonFields(line)?.map(({ key, value }) => [key, value] as const);
  assertEquals(fields('{"a":{"b":{"c":1}},"d":[1],"e":null,"f":"x","g":false}'), [
    ["a/b/c", 1],
    ["d", undefined],
    ["e", null],
    ["f", "x"],
    ["g", false],
  ]);
  assertEquals(fields('{"step": 1, "data": {"x": NaN, "y": -Infinity}}'), [
    ["step", 1],
    ["data/x", NaN],
    ["data/y", -Infinity],
  ]);
  assertEquals(fields('{"__proto__": 1, "constructor": {"prototype": 2}, "a": 1, "a": 2}'), [
    ["__proto__", 1],
    ["constructor/prototype", 2],
    ["a", 2],
  ]);
  for (const bad of ["", "[1]", "1", '{"a":1', '{"a":NaN', '{"a":NaN} x', "x {}", '{"a":1}}']) {
    assertEquals(jsonFields(bad), undefined, bad);
  }
  const deep = `{"a":1,"n":${'{"b":'.repeat(100_000)}2${"}".repeat(100_000)}}`;
  assertEquals(fields(deep)?.filter(([, value]) => value !== undefined), [["a", 1]]);
});

Deno.test("numbersOf() keeps numbers and null, and counts the rest", () => {
  const ignored: string[] = [];
  const nothing = () => {};
  const entries = numbersOf(
    jsonFields('{"a":1,"b":"2.5","c":"NaN","d":null,"e":"5%","f":true,"g":[1]}') ?? [],
    { add: nothing, set: nothing, identify: nothing, ignore: (what) => ignored.push(what) },
  );
  assertEquals(entries.map(([key, value]) => [key, value]), [
    ["a", 1],
    ["b", 2.5],
    ["c", NaN],
    ["d", null],
  ]);
  assertEquals(ignored, [
    "values that are text",
    "values that are true or false",
    "values that are lists or nested too deeply",
  ]);
});
