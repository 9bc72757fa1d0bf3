/** The live page in a real browser: it trains with the bits of Deno on the same driver, and falls back where it cannot. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { COMMAND_WORDS } from "../../cli/next_command.ts";
import { hashWeights } from "../../src/model/parameters.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { triageRun } from "../../src/run/triage_run.ts";
import { bundledScripts } from "../../src/live/files/bundle.ts";
import { liveDocument } from "../../src/live/page.ts";
import { readChartJs } from "../../src/report/files/chart_js.ts";
import { swiftShaderFile } from "../conformance/implementations.ts";
import { openPage, type Watched, withBrowser } from "../e2e/browser.ts";
import type { PageElement } from "../e2e/devtools.ts";
import { withFolder } from "../files/with_folder.ts";
import { CONVERSATION, SETTINGS as RECORDED } from "./conversation.ts";
import { goldenBase, SMALL } from "./small_session.ts";

declare const document: {
  readonly body: { readonly innerText: string };
  querySelector(selector: string): (PageElement & { click(): void }) | null;
};

const SETTINGS = { fault: "mask_shift", seed: 3, steps: 4 } as const;
const FRAGMENT = "#fault=mask_shift&seed=3&steps=4";

/** Longer than the steps take on two busy processors. */
const PATIENCE_MS = 300_000;

async function writePage(path: string): Promise<void> {
  const scripts = { chartJs: readChartJs(), ...await bundledScripts(undefined) };
  const answers = CONVERSATION.map((answer) => ({ ms: 0, answer }));
  const adapter = { name: "a GPU far away", isSoftware: false };
  const data = {
    version: "0",
    base: goldenBase().toBase64(),
    recording: { adapter, settings: RECORDED, answers },
    config: SMALL,
  };
  const text = await liveDocument({ data, scripts, words: COMMAND_WORDS.mention });
  assert(text.length < 2_000_000, `${text.length} bytes`);
  Deno.writeTextFileSync(path, text);
}

function press({ page }: Watched, selector: string): Promise<void> {
  return page.evaluate((which) => document.querySelector(which)?.click(), selector);
}

/** Waits until the page's text holds something. */
async function until({ page, complaints }: Watched, text: string): Promise<string> {
  const endMs = performance.now() + PATIENCE_MS;
  let shown = "";
  while (performance.now() < endMs) {
    shown = await page.evaluate(() => document.body.innerText);
    if (shown.includes(text)) return shown;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the page never said "${text}":\n${shown}\n${complaints.join("\n")}`);
}

/** What a page complains about or requests, apart from its own worker and files. */
function requests({ complaints }: Watched): string[] {
  return complaints.filter((text) => !text.startsWith("blob:"));
}

/** The same session in Deno, on the driver that the browser brings along. */
async function inDeno(): Promise<{ hashes: Record<string, string>; metrics: string }> {
  const program = new URL("in_deno.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "-A", program, JSON.stringify(SETTINGS)],
    env: { VK_DRIVER_FILES: swiftShaderFile() },
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Waits until a file that the browser saves is whole. */
async function saved(folder: string, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const endMs = performance.now() + PATIENCE_MS;
  while (performance.now() < endMs) {
    const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name);
    if (names.includes(name)) return Deno.readFileSync(`${folder}/${name}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the browser never saved ${name}`);
}

Deno.test("the page trains with the bits of Deno on the same driver, names the fault, and hands out files that are read", () =>
  withFolder(async (folder) => {
    const path = `${folder}/live.html`;
    await writePage(path);
    const expected = inDeno();
    await withBrowser(async (browser) => {
      await browser.send("Browser.setDownloadBehavior", {
        behavior: "allow",
        downloadPath: folder,
      });
      const own = `file://${path}`;
      const watched = await openPage(browser, { url: `${own}${FRAGMENT}`, own });
      await press(watched, "#live-start");
      const text = await until(watched, "Both runs ended after 4 steps.");
      assertStringIncludes(text, "swiftshader");
      assertStringIncludes(text, "mask_shift");
      for (const file of ["metrics", "checkpoint"]) {
        await press(watched, `#live-files [data-run=broken][data-file=${file}]`);
      }
      const { metrics, hashes } = await expected;
      const name = "mask_shift-seed3";
      const rows = await saved(folder, `${name}.metrics.jsonl`);
      assertEquals(new TextDecoder().decode(rows), metrics);
      await saved(folder, `${name}-step-4.safetensors`);
      const checkpoint = readCheckpoint(`${folder}/${name}-step-4.safetensors`);
      assertEquals(await hashWeights(checkpoint.weights_W), hashes.broken);
      assertEquals([checkpoint.isVerified, checkpoint.state?.step], [true, 4]);
      assertEquals(
        triageRun(`${folder}/${name}.metrics.jsonl`).report.causes[0]?.fault,
        name.slice(0, 10),
      );
      assertEquals(requests(watched), []);

      // Where workers have no WebGPU the page itself computes.
      const other = await openPage(browser, { url: own, own });
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
      assertEquals(requests(other), []);
    }, { webGpu: true });
  }));

Deno.test("a page without WebGPU says so, and plays its recording", () =>
  withFolder(async (folder) => {
    const path = `${folder}/live.html`;
    await writePage(path);
    await withBrowser(async (browser) => {
      const own = `file://${path}`;
      const watched = await openPage(browser, { url: own, own });
      await press(watched, "#live-start");
      await until(watched, "Nothing can be computed here");
      await press(watched, "#live-start");
      const text = await until(watched, "Both runs ended after 2 steps.");
      assertStringIncludes(text, "a GPU far away");
      // Chromium says so itself: of the worker, then of the page.
      const unknown = requests(watched).filter((text) => text !== "No available adapters.");
      assertEquals(unknown, []);
    });
  }));
