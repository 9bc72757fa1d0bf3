/** Tests of src/gpu/unroll.ts: constants that are set in a kernel's text, and loops that are written out. */
import { assertEquals, assertThrows } from "@std/assert";
import { setConstants, unrollLoops } from "../../src/gpu/unroll.ts";

Deno.test("unrollLoops() writes out nested loops with literal indices and keeps the number of lines", () => {
  const text = `const ROWS = 2u;
fn f() {
  for (var r = 0u; r < ROWS; r++) { // unrolled
    for (var c = 0u; c < 3u; c++) { // unrolled
      block[3u * r + c] = f32(row); // r and row differ
    }
  }
}
`;
  const unrolled = unrollLoops(text);
  const places = [...unrolled.matchAll(/block\[3u \* (\d)u \+ (\d)u\] = f32\(row\);/g)];
  assertEquals(places.map(([, r, c]) => `${r}${c}`), ["00", "01", "02", "10", "11", "12"]);
  assertEquals(unrolled.split("\n").length, text.split("\n").length);
  assertEquals(unrolled.includes("for ("), false);
  assertEquals(unrolled.split("\n").at(-2), "}");
});

Deno.test("unrollLoops() knows constants that are multiples of others", () => {
  const text = `const ROWS4 = 2u;
const ROWS = 4u * ROWS4;
const ALL = 2u * ROWS;
for (var r = 0u; r < ROWS; r++) { // unrolled
  x[r];
}
for (var r = 0u; r < ALL; r++) { // unrolled
  y[r];
}
`;
  const copies = (name: string) => unrollLoops(text).split(`${name}[`).length - 1;
  assertEquals([copies("x"), copies("y")], [8, 16]);
});

Deno.test("unrollLoops() leaves loops alone that are not marked", () => {
  const text = "for (var k = 0u; k < width4; k++) {\n  sum += x[k];\n}\n";
  assertEquals(unrollLoops(text), text);
});

Deno.test("unrollLoops() writes out a loop with a condition for that count alone", () => {
  const text = (count: number) =>
    `const WIDTH4 = ${count}u;
for (var k = 0u; k < width4(); k++) { // unrolled if WIDTH4 == 3
  for (var c = 0u; c < 2u; c++) { // unrolled
    sum[c] += x[k];
  }
}
`;
  const copies = (count: number) => [...unrollLoops(text(count)).matchAll(/x\[(\w+)\]/g)];
  assertEquals(copies(3).map(([, k]) => k), ["0u", "0u", "1u", "1u", "2u", "2u"]);
  assertEquals(copies(2).map(([, k]) => k), ["k", "k"]);
  assertEquals(copies(4).map(([, k]) => k), ["k", "k"]);
});

Deno.test("unrollLoops() refuses a bound that is not a constant and a loop that never closes", () => {
  const loop = (bound: string, end: string) =>
    `for (var k = 0u; k < ${bound}; k++) { // unrolled\n  sum += x[k];\n${end}`;
  assertThrows(() => unrollLoops(loop("width4", "}")), SyntaxError, "width4");
  assertThrows(() => unrollLoops(loop("4u", "")), SyntaxError, "never closed");
});

Deno.test("setConstants() sets what the text declares and refuses other names", () => {
  const text = "const ROWS = 4u;\nconst ROWS_LENGTH = 16u;\n";
  assertEquals(setConstants(text, { ROWS: 8 }), "const ROWS = 8u;\nconst ROWS_LENGTH = 16u;\n");
  assertThrows(() => setConstants(text, { COLUMNS: 8 }), RangeError, "no such constant");
});
