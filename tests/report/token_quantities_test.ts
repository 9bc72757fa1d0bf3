/** Tests of what tokens are coloured by: values, levels at their bounds, legends, and grounds on which every text can be read. */
import { assert, assertEquals } from "@std/assert";
import {
  gapSides,
  lookOf,
  QUANTITIES,
  quantityLegend,
  ratioSides,
  type TokenFacts,
  valueOf,
} from "../../src/report/script/token_quantities.ts";
import tokenStyle from "../../src/report/tokens.css" with { type: "text" };
import frameStyle from "../../src/report/style.css" with { type: "text" };

const TOKEN: TokenFacts = {
  logProbs: {},
  entropy: NaN,
  advantage: NaN,
  isTrained: undefined,
  isSampled: undefined,
  role: undefined,
};

Deno.test("valueOf() takes gap and ratio from the sides that there are", () => {
  const all = { ...TOKEN, logProbs: { sampler: -1, old: -1.5, trainer: -2, reference: -9 } };
  assertEquals([valueOf("gap", all), valueOf("ratio", all)], [-1, Math.exp(-0.5)]);
  assertEquals(valueOf("probability", all), Math.exp(-1));
  const two = { ...TOKEN, logProbs: { sampler: -1, old: -1.5 } };
  assertEquals([valueOf("gap", two), valueOf("ratio", two)], [-0.5, Math.exp(-0.5)]);
  assertEquals(valueOf("gap", { ...TOKEN, logProbs: { sampler: -1 } }), NaN);
  assertEquals(valueOf("gap", { ...TOKEN, logProbs: { sampler: NaN, trainer: -1 } }), NaN);
  assertEquals(gapSides((side) => side === "old" || side === "trainer"), ["old", "trainer"]);
  assertEquals(ratioSides((side) => side !== "old"), ["sampler", "trainer"]);
});

Deno.test("lookOf() begins a level at its bound, with the sign of the value", () => {
  const gap = (value: number) =>
    lookOf("gap", { ...TOKEN, logProbs: { sampler: 0, trainer: value } }, 1);
  assertEquals([0, 0.0199, 0.02, -0.02, 0.1, -0.7, 2, -50].map(gap), [
    ...["level-0", "level-0", "warm-1", "cool-1", "warm-2", "cool-3", "warm-4", "cool-4"],
  ]);
  const ratio = (value: number) =>
    lookOf("ratio", { ...TOKEN, logProbs: { sampler: 0, trainer: Math.log(value) } }, 1);
  assertEquals([1, 1.21, 1 / 1.21, 6, 0.1].map(ratio), [
    ...["level-0", "warm-2", "cool-2", "warm-4", "cool-4"],
  ]);
  const probability = (p: number) =>
    lookOf("probability", { ...TOKEN, logProbs: { sampler: Math.log(p) } }, 1);
  assertEquals([1, 0.6, 0.4, 0.05, 0.0001].map(probability), [
    ...["level-0", "level-0", "warm-1", "warm-2", "warm-4"],
  ]);
  const advantage = (value: number) => lookOf("advantage", { ...TOKEN, advantage: value }, 2);
  assertEquals([0, 0.1, -0.5, -1, 2].map(advantage), [
    ...["level-0", "warm-1", "cool-2", "cool-3", "warm-4"],
  ]);
  const mask = (isTrained: boolean, isSampled?: boolean) =>
    lookOf("mask", { ...TOKEN, isTrained, isSampled }, 1);
  assertEquals([mask(true), mask(true, false), mask(false, true), mask(false)], [
    ...["trained", "broken", "left-out", "level-0"],
  ]);
  assertEquals(QUANTITIES.map((quantity) => lookOf(quantity, TOKEN, 1)), Array(7).fill("unknown"));
});

Deno.test("quantityLegend() explains every look that there is, each with a rule of its own in the style", () => {
  for (const quantity of QUANTITIES) {
    const legend = quantityLegend(quantity, 2);
    assertEquals(new Set(legend.map(({ look }) => look)).size, legend.length, quantity);
    for (const { look } of legend) {
      assert(look === "level-0" || tokenStyle.includes(`.t.${look} {`), `${look} has no rule`);
    }
  }
  assertEquals(quantityLegend("advantage", 2).slice(0, 3).map(({ text }) => text), [
    ...["0", "+0 to 0.5", "+0.5 to 1"],
  ]);
});

/** Colours of a theme by name: `dark` from the block that has that colour scheme. */
function coloursOf(theme: "light" | "dark"): Map<string, string> {
  const blocks = [tokenStyle, frameStyle].map((style) => {
    const begin = theme === "light" ? 0 : style.indexOf("prefers-color-scheme: dark");
    return style.slice(begin, style.indexOf("}", begin));
  });
  return new Map(
    Array.from(
      blocks.join("\n").matchAll(/--([\w-]+): (#[0-9a-f]{6});/g),
      ([, name = "", value = ""]) => [name, value],
    ),
  );
}

/** Relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((i) => {
    const c = parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

Deno.test("every ground of a token has a contrast of at least 4.5 to its text, in both themes", () => {
  for (const theme of ["light", "dark"] as const) {
    const colours = coloursOf(theme);
    const contrast = (a: string, b: string) => {
      const [low = NaN, high = NaN] = [a, b].map((name) => luminance(colours.get(name) ?? ""))
        .sort((x, y) => x - y);
      return (high + 0.05) / (low + 0.05);
    };
    const grounds = [1, 2, 3, 4].flatMap((level) => [`warm-${level}`, `cool-${level}`]);
    for (const ground of [...grounds, "bad", "policy", "prompt", "tool", "raised"]) {
      const ratio = contrast("text", ground);
      assert(ratio >= 4.5, `${ground}, ${theme}: ${ratio}`);
    }
    assert(contrast("text-quiet", "ground") >= 4.5, theme);
  }
});
