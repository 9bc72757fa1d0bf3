/** Tests of the document: its policy names exactly what is inside, ids are unique, and it stays small. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { chartFigure } from "../../src/report/chart.ts";
import { readChartJs } from "../../src/report/files/chart_js.ts";
import { buildDocument, MAX_BYTES, type Section } from "../../src/report/document.ts";
import { html } from "../../src/report/html.ts";
import { pageScript } from "../../src/report/files/page_script.ts";

/** A section with `count` charts of `pointCount` points. */
function sectionOf(id: string, count: number, pointCount: number): Section {
  const charts = Array.from({ length: count }, (_, i) =>
    chartFigure({
      id: `${id}-${i}`,
      title: "t",
      xLabel: "x",
      yLabel: "",
      series: [{
        name: "s",
        style: "line",
        tone: "first",
        points: Array.from({ length: pointCount }, (_, x) => [x, Math.sin(x * (i + 1)) * 1e5]),
      }],
    }));
  return { id, title: "Title", body: html`${charts}` };
}

function build(sections: readonly Section[], chartJs = "window.Chart = 1;"): Promise<string> {
  const scripts = { chartJs, chartJsVersion: "4", page: pageScript() };
  return buildDocument({ title: "T", subtitle: "", sections, data: { triage: [] }, scripts });
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${new Uint8Array(digest).toBase64()}'`;
}

Deno.test("buildDocument() allows its own scripts and style by hash, and nothing else", async () => {
  const text = await build([sectionOf("a", 1, 5)], readChartJs());
  const policy =
    /Content-Security-Policy"\s+content="([^"]*)"/.exec(text)?.[1]?.replaceAll("&#39;", "'") ?? "";
  const inside = [
    ...Array.from(text.matchAll(/<script>([\s\S]*?)<\/script>/g), ([, script = ""]) => script),
    ...Array.from(text.matchAll(/<style>([\s\S]*?)<\/style>/g), ([, style = ""]) => style),
  ];
  assertEquals(inside.length, 3);
  const [chartJs = "", page = "", style = ""] = await Promise.all(inside.map(hashOf));
  assertEquals(policy.split("; "), [
    "default-src 'none'",
    `script-src ${chartJs} ${page}`,
    `style-src ${style}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  assert(
    !/\son\w+="|\sstyle="|(?:src|href)="(?!#)/.test(text),
    "nothing inline and nothing from outside",
  );
});

Deno.test("buildDocument() thins curves out until it fits, and refuses what does not fit", async () => {
  const large = await build([sectionOf("a", 150, 2000)]);
  assert(large.length > MAX_BYTES / 4 && new TextEncoder().encode(large).length <= MAX_BYTES);
  await assertRejects(() => build([sectionOf("a", 1800, 40)]), RangeError, "do not fit into 2 MB");
});

Deno.test("buildDocument() refuses two parts of one id, and a script that would end its element", async () => {
  const twice = [sectionOf("a", 1, 2), sectionOf("a", 1, 2)];
  await assertRejects(() => build(twice), RangeError, 'the id "a"');
  await assertRejects(() => build([sectionOf("a", 0, 0)], "'</script>'"), RangeError, "would end");
});

Deno.test("readChartJs() returns a build without a source map", () => {
  const text = readChartJs();
  assertMatch(text, /Chart\.js v4/);
  assert(!text.includes("sourceMappingURL"));
});
