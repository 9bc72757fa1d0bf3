/** The live page in a real browser: written small, started, and waited for. */
import { COMMAND_WORDS } from "../../cli/next_command.ts";
import { bundledScripts } from "../../src/live/files/bundle.ts";
import type { LiveSettings } from "../../src/live/messages.ts";
import { liveDocument } from "../../src/live/page.ts";
import { readChartJs } from "../../src/report/files/chart_js.ts";
import { openPage, type Watched } from "../e2e/browser.ts";
import type { Browser, PageElement } from "../e2e/devtools.ts";
import { CONVERSATION, SETTINGS as RECORDED } from "./conversation.ts";
import { goldenBase, SMALL } from "./small_session.ts";

declare const document: {
  readonly body: { readonly innerText: string };
  querySelector(selector: string): (PageElement & { click(): void }) | null;
};

/** What the page trains in tests. */
export const TRAINED = { fault: "mask_shift", seed: 3, steps: 4 } as const satisfies LiveSettings;

/** Longer than the steps take on two busy processors. */
const PATIENCE_MS = 300_000;

/** Writes a page of few episodes with a made-up recording. @returns Its bytes. */
export async function writePage(path: string): Promise<number> {
  const answers = CONVERSATION.map((answer) => ({ ms: 0, answer }));
  const adapter = { name: "a GPU far away", isSoftware: false };
  const text = await liveDocument({
    data: {
      version: "0",
      base: goldenBase().toBase64(),
      recording: { adapter, settings: RECORDED, answers },
      config: SMALL,
    },
    scripts: { chartJs: readChartJs(), ...await bundledScripts(undefined) },
    words: COMMAND_WORDS.mention,
  });
  Deno.writeTextFileSync(path, text);
  return new TextEncoder().encode(text).length;
}

/** Opens the page in a file. @param looks.fragment Settings, with their `#`. */
export function openLive(
  browser: Browser,
  { path, fragment = "", ...looks }: {
    readonly path: string;
    readonly fragment?: string;
    readonly width?: number;
    readonly scheme?: "light" | "dark";
  },
): Promise<Watched> {
  const own = `file://${path}`;
  return openPage(browser, { ...looks, url: `${own}${fragment}`, own });
}

/** Presses a button. */
export function press({ page }: Watched, selector: string): Promise<void> {
  return page.evaluate((which) => document.querySelector(which)?.click(), selector);
}

/** Waits until the page's text holds something, and returns all of it. */
export async function until({ page, complaints }: Watched, text: string): Promise<string> {
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
export function complaintsOf({ complaints }: Watched): string[] {
  // Chromium itself says that it has no adapter.
  return complaints.filter((text) =>
    !text.startsWith("blob:") && text !== "No available adapters."
  );
}

/** Waits until a file that the browser saves is whole. */
async function saved(folder: string, name: string): Promise<string> {
  const endMs = performance.now() + PATIENCE_MS;
  while (performance.now() < endMs) {
    const names = Array.from(Deno.readDirSync(folder), (entry) => entry.name);
    if (names.includes(name)) return `${folder}/${name}`;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the browser never saved ${name}`);
}

/** Trains in a page and saves the files of its broken run. @returns What the page says at its end, and the files. */
export async function trainInPage(browser: Browser, { path, folder }: {
  readonly path: string;
  /** Where the files go. */
  readonly folder: string;
}) {
  await browser.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
  const { fault, seed, steps } = TRAINED;
  const fragment = `#fault=${fault}&seed=${seed}&steps=${steps}`;
  const watched = await openLive(browser, { path, fragment });
  await press(watched, "#live-start");
  const text = await until(watched, `Both runs ended after ${steps} steps.`);
  for (const file of ["metrics", "checkpoint"]) {
    await press(watched, `#live-files [data-run=broken][data-file=${file}]`);
  }
  const name = `${fault}-seed${seed}`;
  return {
    text,
    complaints: complaintsOf(watched),
    metrics: await saved(folder, `${name}.metrics.jsonl`),
    checkpoint: await saved(folder, `${name}-step-${steps}.safetensors`),
  };
}
