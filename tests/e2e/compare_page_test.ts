/** The page of a comparison in a real browser: it fits every window, sorts, is accessible, and asks for nothing. */
import { assert, assertEquals } from "@std/assert";
import { writeSyntheticSweep } from "../compare/synthetic_runs.ts";
import { withFolder } from "../files/with_folder.ts";
import { accessViolations } from "./accessibility.ts";
import { openFile, withBrowser } from "./browser.ts";
import { agentrl } from "./command_line.ts";
import type { Page, PageElement } from "./devtools.ts";

/** What functions that run in the page use there. */
declare const document: {
  readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
};

/** The first column of the first sortable table, and which heads say that it is sorted. */
function tableOf(page: Page) {
  return page.evaluateAll("table.sortable", ([table]) => {
    const { tBodies, tHead } = table as unknown as {
      tBodies: { rows: { cells: { textContent: string }[] }[] }[];
      tHead: { rows: { cells: { textContent: string; getAttribute(name: string): string }[] }[] };
    };
    return {
      names: Array.from(tBodies[0].rows, (row) => row.cells[0].textContent),
      sorted: Array.from(tHead.rows[0].cells)
        .filter((cell) => cell.getAttribute("aria-sort"))
        .map((cell) => `${cell.textContent} ${cell.getAttribute("aria-sort")}`),
    };
  });
}

/** Clicks on the head of a column, counted from 1, of the first sortable table. */
function sortBy(page: Page, column: number): Promise<void> {
  const button = `table.sortable th:nth-child(${column}) button`;
  return page.evaluateOne(
    button,
    (element) => (element as PageElement & { click(): void }).click(),
  );
}

Deno.test("compare --out: the page fits all windows in both themes, sorts, breaks no rule of access and complains of nothing", () =>
  withFolder((folder) =>
    withBrowser(async (browser) => {
      writeSyntheticSweep(`${folder}/sweep`, {
        axes: { algorithm: ["grpo", "rloo"], lr: [0.001, 0.01] },
        seeds: 5,
        scoreOf: ({ algorithm, lr }, seed) =>
          (algorithm === "grpo" ? 0.7 : 0.3) + Number(lr) * 5 + seed / 50,
      });
      const path = `${folder}/compared.html`;
      const { code, stderr } = await agentrl(["compare", `${folder}/sweep`, "--out", path]);
      assertEquals([code, stderr], [0, ""]);
      for (const width of [360, 768, 1280, 1920]) {
        const scheme = width === 360 ? "dark" : "light";
        const { page, complaints } = await openFile(browser, { path, width, scheme });
        const overflow = await page.evaluate(() => {
          const { scrollWidth, clientWidth } = document.documentElement;
          return scrollWidth - clientWidth;
        });
        assertEquals([width, overflow, complaints], [width, 0, []]);
        if (width === 360) assertEquals(await accessViolations(page), []);
        if (width === 1280) {
          const best = ["grpo lr=0.01", "grpo lr=0.001", "rloo lr=0.01", "rloo lr=0.001"];
          assertEquals(await tableOf(page), { names: best, sorted: [] });
          await sortBy(page, 6);
          await sortBy(page, 6);
          assertEquals(await tableOf(page), {
            names: best.toReversed(),
            sorted: ["mean ascending"],
          });
          await sortBy(page, 1);
          const { names, sorted } = await tableOf(page);
          assertEquals([names[0], sorted], ["grpo lr=0.001", ["group ascending"]]);
        }
        await page.close();
      }
      assert(Deno.statSync(path).size < 1e6);
    })
  ));
