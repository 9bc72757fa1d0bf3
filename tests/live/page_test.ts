/** The live page in a real browser: it trains, names the fault, hands out files that are read, and falls back where it must. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { readMetricsRows } from "../../src/run/metrics_rows.ts";
import { DRIVER_TOLERANCE } from "../conformance/compare.ts";
import { accessViolations } from "../e2e/accessibility.ts";
import { resize, withBrowser } from "../e2e/browser.ts";
import { agentrlHere } from "../e2e/in_process.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import {
  complaintsOf,
  openLive,
  press,
  TRAINED,
  trainInPage,
  until,
  writePage,
} from "./live_page.ts";
import { wholeSession } from "./small_session.ts";

declare function requestAnimationFrame(run: (ms: number) => void): void;
declare const document: {
  readonly activeElement: { readonly id: string } | null;
  readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
};

/** Runs in the page: by how much it is wider than its window, once the charts have followed. */
async function pixelsBeyond(): Promise<number> {
  for (let frame = 0;; frame++) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth === clientWidth || frame === 60) return scrollWidth - clientWidth;
  }
}

gpuTest(
  "the page trains as Deno does, names the fault, and hands out files that are read",
  () =>
    withFolder(async (folder) => {
      const path = `${folder}/live.html`;
      const sizeBytes = await writePage(path);
      assert(sizeBytes < 2_000_000, `${sizeBytes} bytes`);
      const openCommands = async () => new Commands(await testGpu());
      const { session: { answers } } = await wholeSession(TRAINED, { openCommands });
      const expected = answers.flatMap((answer) =>
        answer.kind === "stepped" && answer.run === "broken" ? [answer.row] : []
      );
      await withBrowser(async (browser) => {
        const { text, complaints, metrics, checkpoint } = await trainInPage(browser, {
          path,
          folder,
        });
        assertEquals(complaints, []);
        assertStringIncludes(text, "swiftshader");
        // Its driver differs from Deno's in exp and log alone; `deno task conformance` compares the bits on one driver.
        const rows = readMetricsRows(metrics);
        assertEquals(rows.map(({ reward }) => reward), expected.map(({ reward }) => reward));
        for (const [i, { grad_norm: found }] of rows.entries()) {
          const right = expected[i]!.grad_norm; // 0 where no episode passes.
          const isNear = Math.abs(found - right) <= DRIVER_TOLERANCE.gradientNorms * right;
          assert(isNear, `step ${i}: ${found}, ${right}`);
        }
        assert(rows.some(({ logp_gap }) => logp_gap > 1), "the fault does not show");

        const triaged = await agentrlHere(["triage", metrics, "--json"]);
        assertEquals(JSON.parse(triaged.stdout).causes[0].fault, "mask_shift");
        const { isVerified, state } = readCheckpoint(checkpoint);
        assertEquals([isVerified, state?.step], [true, TRAINED.steps]);
        const args = [
          "eval",
          "--checkpoint",
          checkpoint,
          "--preset",
          "rl",
          "--episodes",
          "10",
          "--json",
        ];
        const evaluated = await agentrlHere(args);
        assertEquals(evaluated.code, 0, evaluated.stderr);

        // Where workers have no WebGPU the page itself computes.
        const other = await openLive(browser, { path });
        await other.page.evaluate(() => {
          const hidden = 'Object.defineProperty(navigator, "gpu", { value: undefined });';
          const Whole = Blob;
          globalThis.Blob = class extends Whole {
            constructor(parts: BlobPart[] = [], options?: BlobPropertyBag) {
              super([hidden, ...parts], options);
            }
          };
        });
        await press(other, "#live-start");
        await until(other, "swiftshader");
        assertEquals(complaintsOf(other), []);
      }, { webGpu: true });
    }),
);

Deno.test("a page without WebGPU says so and plays its recording, for keyboards and at every width", () =>
  withFolder(async (folder) => {
    const path = `${folder}/live.html`;
    await writePage(path);
    await withBrowser(async (browser) => {
      const watched = await openLive(browser, { path });
      const { page } = watched;
      assertEquals(await accessViolations(page), []);
      for (let i = 0; i < 5; i++) {
        await page.press("Tab");
        if (await page.evaluate(() => document.activeElement?.id) === "live-start") break;
      }
      await page.press("Space");
      await until(watched, "Nothing can be computed here");
      await page.press("Space");
      const text = await until(watched, "Both runs ended after 2 steps.");
      assertStringIncludes(text, "a GPU far away");
      for (const width of [360, 768, 1280, 1920]) {
        await resize(page, width);
        assertEquals(await page.evaluate(pixelsBeyond), 0, `${width} pixels`);
      }
      const features = [{ name: "prefers-color-scheme", value: "dark" }];
      await page.send("Emulation.setEmulatedMedia", { features });
      assertEquals(await accessViolations(page), []);
      assertEquals(complaintsOf(watched), []);
    });
  }));
