/** `agentrl watch` as a process, and its page in a real browser under which a run grows, restarts, is cut and deleted. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { command as triage } from "../../cli/commands/triage.ts";
import { command } from "../../cli/commands/watch.ts";
import { COMMON_FLAGS, parseFlags } from "../../cli/flags.ts";
import { UserError } from "../../src/core/errors.ts";
import { CHART_JS_VERSION, readChartJs } from "../../src/report/files/chart_js.ts";
import { watchScript } from "../../src/report/files/page_script.ts";
import { watchContent, watchDocument } from "../../src/report/watch_page.ts";
import { LiveContent } from "../../src/watch/live_content.ts";
import { newToken, type ServedPage, servePage } from "../../src/watch/serve_page.ts";
import { watchRuns } from "../../src/watch/watch_runs.ts";
import { writeSyntheticRun } from "../compare/synthetic_runs.ts";
import { withFolder } from "../files/with_folder.ts";
import { testReading, trlRow, trlRows } from "../watch/reading.ts";
import { accessViolations } from "./accessibility.ts";
import { openPage, resize, withBrowser } from "./browser.ts";
import { LAUNCHER } from "./command_line.ts";
import type { Page, PageElement } from "./devtools.ts";

/** What functions that run in the page use there. */
declare const document: {
  readonly title: string;
  readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
  querySelector(selector: string): PageElement | null;
};

interface PageGlobals {
  readonly Chart: {
    getChart(
      canvas: unknown,
    ): { data: { datasets: { data: { x: number; y: number }[] }[] } } | undefined;
  };
}

/** Watches a path on a page that `use` gets, and ends both. */
async function withWatch(paths: readonly string[], use: (page: ServedPage) => Promise<void>) {
  const content = new LiveContent();
  const scripts = {
    chartJs: readChartJs(),
    chartJsVersion: CHART_JS_VERSION,
    page: watchScript(),
  };
  const document = await watchDocument(paths.map((path) => path.split("/").at(-1) ?? ""), scripts);
  const stop = new AbortController();
  const watching = watchRuns(paths, {
    ...testReading(),
    signal: stop.signal,
    pollMs: 30,
    onChange: (runs) => content.set(watchContent(runs)),
  });
  const page = servePage({ document, content, token: newToken(), port: undefined });
  try {
    await use(page);
  } finally {
    stop.abort();
    await watching;
    await page[Symbol.asyncDispose]();
  }
}

/** Waits until the page says something. */
async function until(page: Page, what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const endMs = performance.now() + 20_000; performance.now() < endMs;) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  throw new Error(`the page never shows ${what}: ${await page.title()}`);
}

const untilTitle = (page: Page, title: RegExp) =>
  until(page, String(title), async () => title.test(await page.title()));

const textOf = (page: Page, id: string) =>
  page.evaluateOne(`#${id}`, (element) => element.textContent ?? "");

/** Points of the first chart, which is brought into view: what is out of sight is not drawn again. */
function drawnPoints(page: Page): Promise<number[]> {
  return page.evaluate(() => {
    const { Chart } = globalThis as unknown as PageGlobals;
    const canvas = document.querySelector(".plot canvas");
    (canvas as unknown as { scrollIntoView(): void } | null)?.scrollIntoView();
    const chart = Chart.getChart(canvas);
    return chart?.data.datasets[0].data.map(({ x }) => x) ?? [];
  });
}

const untilPoints = (page: Page, xs: readonly number[]) =>
  until(page, `points at ${xs}`, async () => `${await drawnPoints(page)}` === `${xs}`);

const stepsTo = (end: number) => Array.from({ length: end }, (_, step) => step);

Deno.test("the page follows a run that begins, grows, is set back, cut, deleted, and comes again", () =>
  withFolder((folder) =>
    withBrowser(async (browser) => {
      const log = `${folder}/log.jsonl`;
      const append = (text: string) => Deno.writeTextFileSync(log, text, { append: true });
      let page: Page | undefined;
      let complaints: readonly string[] = [];
      await withWatch([log], async ({ url }) => {
        ({ page, complaints } = await openPage(browser, { url, own: url, width: 360 }));
        await untilTitle(page, /^no step yet, 0 findings: log\.jsonl$/);
        assertMatch(await textOf(page, "run-0-state"), /nothing at .*log\.jsonl yet/);
        assertMatch(await textOf(page, "watch-link"), /^Live/);

        append(trlRows(0, 6) + trlRow(6).slice(0, 20));
        await untilTitle(page, /^step 5, 0 findings/);
        await untilPoints(page, stepsTo(6));
        assertMatch(await textOf(page, "run-0-state"), /last line of .* is half-written/);

        // What a reader has opened and chosen stays while the run grows.
        await page.evaluateOne(
          ".chart details.tools",
          (tools) => (tools as unknown as { open: boolean }).open = true,
        );
        await page.evaluateAll(
          "#run-0-findings details",
          (all) => all.forEach((details) => (details as unknown as { open: boolean }).open = true),
        );
        append(trlRow(6).slice(20) + trlRows(7, 30));
        await untilTitle(page, /^step 29, 2 findings: /);
        await untilPoints(page, stepsTo(30));
        assertMatch(await textOf(page, "run-0-notices"), /step 29: \w*gap\w* \(suspect\)/);
        assertEquals(
          await page.evaluateAll("details[open]", (all) => all.map(({ className }) => className)),
          ["", "tools"],
        );

        append(trlRows(12, 15));
        await untilTitle(page, /^step 14, /);
        await untilPoints(page, stepsTo(15));
        assertMatch(await textOf(page, "run-0-notices"), /set back from step 29 to step 12/);

        Deno.writeTextFileSync(log, trlRows(0, 4));
        await untilTitle(page, /^step 3, 0 findings/);
        await untilPoints(page, stepsTo(4));
        assertMatch(await textOf(page, "run-0-notices"), /was cut from/);

        Deno.removeSync(log);
        await until(page, "that the log is gone", async () =>
          /nothing at .* any more/.test(page ? await textOf(page, "run-0-state") : ""));
        assertEquals(await drawnPoints(page), stepsTo(4), "what it held last is still shown");
        append(trlRows(0, 9));
        await untilPoints(page, stepsTo(9));

        for (const width of [360, 720, 1200, 1920]) {
          await resize(page, width);
          const overflow = await page.evaluate(() =>
            document.documentElement.scrollWidth - document.documentElement.clientWidth
          );
          assertEquals(overflow, 0, `at ${width} px`);
        }
        const dark = [{ name: "prefers-color-scheme", value: "dark" }];
        assertEquals(await accessViolations(page), []);
        await page.send("Emulation.setEmulatedMedia", { features: dark });
        assertEquals(
          await page.evaluate(async () => {
            const { axe } = globalThis as unknown as {
              axe: { run(): Promise<{ violations: { id: string }[] }> };
            };
            return (await axe.run()).violations.map(({ id }) =>
              id
            );
          }),
          [],
        );
      });
      // The watch has ended, and the page says so and asks no more.
      if (!page) {
        throw new Error("no page");
      }
      const last = page;
      await until(last, "the end", async () => /ended/.test(await textOf(last, "watch-link")));
      assertEquals(complaints, []);
    })
  ));

/** The first line that a process prints. */
async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.split("\n")[0];
}

Deno.test("agentrl watch prints an address that answers, and Ctrl-C ends it and touches nothing", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/log.jsonl`, trlRows(0, 30));
    const child = new Deno.Command(LAUNCHER, {
      args: ["watch", folder, "--json"],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const errors = new Response(child.stderr).text();
    const { url } = JSON.parse(await firstLine(child.stdout));
    const answer = await fetch(url);
    assertMatch(await answer.text(), /<h1>/);
    assertEquals(await fetch(new URL("/", url)).then((no) => no.text().then(() => no.status)), 404);
    const events = await fetch(`${url}events`);
    const sent = events.text();
    // The first look may still be under way.
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill("SIGINT");
    const { code } = await child.status;
    assertEquals([code, await errors], [130, ""]);
    assert(/step 29, 2 findings[\s\S]*event: end/.test(await sent));
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["log.jsonl"]);
    assert(!(await fetch(url).catch((error) => error) instanceof Response));
  }));

Deno.test("watch and triage refuse a sweep, whose cells are many runs, with one sentence", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/sweep.json`, "{}");
    const { flags } = parseFlags([], { ...COMMON_FLAGS, ...command.flags });
    await assertRejects(
      async () => await command.run(flags, [folder]),
      UserError,
      `it is a sweep; name runs in ${folder}/runs`,
    );
    const runs = ["a", "b"].map((name) => `${folder}/runs/${name}`);
    for (const run of runs) writeSyntheticRun(run, { flags: { algorithm: "grpo" }, score: 0.5 });
    const judging = parseFlags([], { ...COMMON_FLAGS, ...triage.flags });
    await assertRejects(
      async () => await triage.run(judging.flags, [folder]),
      UserError,
      `it is a sweep; name one of the runs in ${folder}/runs, or compare`,
    );
    await assertRejects(
      async () => await triage.run(judging.flags, [`${folder}/runs`]),
      UserError,
      "it holds 2 runs; name one of them, such as ",
    );
  }));
