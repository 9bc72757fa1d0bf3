/** Reports in a real browser: nothing is requested, charts are drawn, and every kind of reader gets the numbers. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  HOSTILE,
  writeFaults,
  writeLab,
  writeMatrix,
  writeReferee,
  writeRun,
} from "../report/fixture.ts";
import { withFolder } from "../files/with_folder.ts";
import { accessViolations } from "./accessibility.ts";
import { openFile, withBrowser } from "./browser.ts";
import { agentrl, assertRefused } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";
import type { Browser, Page, PageElement } from "./devtools.ts";

/** A TRL log of 30 rows whose sampler and trainer disagree, with a key that tries to break out of the page. */
function trlLog(): string {
  const rows = Array.from({ length: 30 }, (_, i) => ({
    step: 10 * (i + 1),
    reward: 0.2 + i / 60 + (i % 3) / 50,
    "rewards/tests/mean": 0.2 + i / 60,
    "rewards/format/mean": 0.9,
    reward_std: 0.4,
    frac_reward_zero_std: 0.2,
    "completions/mean_length": 200 + (i % 5),
    "completions/clipped_ratio": 0.02,
    entropy: 0.6 - i / 200,
    grad_norm: 0.3 + (i % 4) / 20,
    learning_rate: 1e-6,
    loss: 0.0012,
    "sampling/sampling_logp_difference/mean": 0.4 + (i % 3) / 100,
    [HOSTILE]: i,
  }));
  return JSON.stringify({ global_step: 300, max_steps: 300, logging_steps: 10, log_history: rows });
}

/** What functions that run in the page use there. */
declare const document: {
  readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
  readonly body: { readonly innerText: string };
  readonly activeElement: PageElement | null;
  querySelector(selector: string): PageElement | null;
};

/** A field or a choice in the page. */
interface PageControl extends PageElement {
  value: string;
  dispatchEvent(event: Event): boolean;
}
declare function getComputedStyle(element: unknown): { readonly backgroundColor: string };

/** What Chart.js offers in the page. */
interface PageGlobals {
  readonly Chart: {
    getChart(
      canvas: unknown,
    ): {
      data: { datasets: { label: string; data: unknown[] }[] };
      scales: { x: { max: number } };
    } | undefined;
  };
}

/** Draws every chart, as printing does, and says how long that took. */
function drawAll(page: Page): Promise<number> {
  return page.evaluate(() => {
    const start = performance.now();
    dispatchEvent(new Event("beforeprint"));
    return performance.now() - start;
  });
}

/** Of each canvas: its id, points by curve, and how many of its pixels are painted. */
function canvasesOf(page: Page) {
  return page.evaluateAll("canvas", (canvases) =>
    canvases.map((element) => {
      const canvas = element as unknown as {
        id: string;
        width: number;
        height: number;
        getContext(kind: "2d"): {
          getImageData(x: number, y: number, w: number, h: number): { data: Uint8ClampedArray };
        };
      };
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      let painted = 0;
      for (let i = 3; i < data.length; i += 4) painted += Number(data[i] > 0);
      const { Chart } = globalThis as unknown as PageGlobals;
      const chart = Chart.getChart(element);
      const points = Object.fromEntries(
        (chart?.data.datasets ?? []).map(({ label, data }) => [label, data.length]),
      );
      return { id: canvas.id, points, paintedShare: painted / (width * height) };
    }));
}

/** Width of the whole page beyond the window. */
function overflowOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
}

async function checkDrawn(browser: Browser, path: string): Promise<void> {
  const { page, complaints } = await openFile(browser, { path });
  await drawAll(page);
  const canvases = await canvasesOf(page);
  assert(canvases.length > 20, `${canvases.length} canvases`);
  const blank = canvases.filter(({ paintedShare }) => !(paintedShare > 0.01));
  assertEquals(blank, []);
  const pointsOf = (id: string) => canvases.find((canvas) => canvas.id === id)?.points;
  assertEquals(pointsOf("run-0-reward"), {
    "reward, healthy runs": 24,
    "pass_rate, healthy runs": 24,
    reward: 24,
    pass_rate: 24,
  });
  assertEquals(pointsOf("run-0-eval-pass"), { "95 % Wilson interval": 3, eval_pass: 3 });
  assertEquals(pointsOf("fault-mask-shift-logp-gap"), { mask_shift: 24, healthy: 24 });
  assertEquals(pointsOf("lab-baselines-agent-figure-0"), { curve: 3, named: 1 });
  assertEquals(pointsOf("referee-0-by-sequence"), { sampler: 16, "old policy": 16 });
  assertEquals(complaints, []);
  await page.close();
}

async function checkHostile(browser: Browser, path: string): Promise<void> {
  const { page, complaints } = await openFile(browser, { path });
  assertEquals([await page.title(), await page.evaluateAll("img", (all) => all.length)], [
    "agentrl report",
    0,
  ]);
  const text = await page.evaluateOne("body", (body) => body.textContent ?? "");
  const count = text.split(HOSTILE).length - 1;
  assert(count >= 8, `the name stands ${count} times on the page, as text`);
  assertEquals(complaints, []);
  await page.close();
}

async function checkReaders(browser: Browser, path: string): Promise<void> {
  const { page, complaints } = await openFile(browser, { path });
  // The triage map answers a click, and the keyboard.
  await page.focus('.triage-map [data-rule="0"]');
  await page.press("Enter");
  const answer = await page.evaluateOne(
    ".triage-map [aria-live]",
    (element) => element.textContent ?? "",
  );
  assertMatch(answer, /Test: check 1 violated.*Points to mask_shift/);
  assertEquals(await page.evaluateAll(".triage-map [aria-pressed=true]", (all) => all.length), 1);
  assert(await page.evaluateAll(".triage-map .item.on", (all) => all.length) >= 3);
  // Transcripts: three kinds of tokens, and a log-prob on focus.
  await page.evaluateOne(".transcripts", (details) => details.setAttribute("open", ""));
  const owners = await page.evaluateAll(
    ".episode .token",
    (all) => all.map(({ className }) => className.split(" ")[1]),
  );
  assertEquals([...new Set(owners)], ["prompt", "policy", "tool"]);
  await page.focus(".episode .token.policy");
  await page.press("ArrowRight");
  const [shown, height] = await page.evaluate(() => {
    const more = document.activeElement?.querySelector(".more");
    return [document.activeElement?.textContent ?? "", more?.getBoundingClientRect().height ?? 0];
  });
  assertMatch(String(shown), /^read log-prob −1\.5, probability 0\.223$/);
  assert(Number(height) > 10, `the log-prob is ${height} px high`);
  const side = await page.evaluateOne(".episode .side", (element) => element.textContent ?? "");
  assertMatch(side, /reward 0advantage −0\.707/);
  assertEquals(complaints, []);
  await page.close();
}

/** A phone, a tablet, a laptop, a large screen; both themes. */
const WIDTHS: readonly (readonly [number, "light" | "dark"])[] = [
  [360, "dark"],
  [768, "light"],
  [1280, "light"],
  [1920, "dark"],
];

/** What axe-core finds that keeps people out: nothing serious, nothing moderate. */
async function checkAccess(
  browser: Browser,
  options: { readonly path: string; readonly width: number; readonly scheme: "light" | "dark" },
): Promise<void> {
  const { page } = await openFile(browser, options);
  assertEquals(await accessViolations(page), []);
  await page.close();
}

async function checkWidths(browser: Browser, path: string, widths = WIDTHS): Promise<void> {
  for (const [width, scheme] of widths) {
    const { page, complaints } = await openFile(browser, { path, width, scheme });
    await drawAll(page);
    assert(await overflowOf(page) <= 0, `wider than ${width} px`);
    const ground = await page.evaluateOne("body", (body) => getComputedStyle(body).backgroundColor);
    assertEquals(ground, "rgb(255, 255, 255)", "paper is white in both themes");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    const themed = await page.evaluateOne("body", (body) => getComputedStyle(body).backgroundColor);
    assertEquals(themed === "rgb(255, 255, 255)", scheme === "light");
    assertEquals(complaints, []);
    await page.close();
  }
}

/** Sets a control of the page as a reader would. */
function set(page: Page, selector: string, value: string): Promise<void> {
  return page.evaluate(
    (selector, value) => {
      const control = document.querySelector(selector) as PageControl;
      control.value = value;
      for (const kind of ["input", "change"]) control.dispatchEvent(new Event(kind));
    },
    selector,
    value,
  );
}

/** The tools of a chart, the choice of episodes, and an address that leads to one. */
async function checkTools(browser: Browser, path: string): Promise<void> {
  const { page, complaints } = await openFile(browser, { path });
  await drawAll(page);
  const drawn = () =>
    page.evaluate(() => {
      const { Chart } = globalThis as unknown as PageGlobals;
      const chart = Chart.getChart(document.querySelector("#run-0-reward"));
      return { curves: chart?.data.datasets.length ?? 0, lastX: chart?.scales.x.max };
    });
  const before = await drawn();
  assertEquals(before.lastX, 23);
  await set(page, "#run-0-reward-figure .tools label + label + label + label input", "10");
  await set(page, "#run-0-reward-figure .tools input[type=range]", "0.5");
  assertEquals(await drawn(), { curves: before.curves + 2, lastX: 10 });
  const shown = () =>
    page.evaluateAll(
      ".episode",
      (all) => all.filter((one) => one.getAttribute("hidden") === null).length,
    );
  const all = await shown();
  await set(page, ".filters select", "0");
  const chosen = await shown();
  assert(chosen > 0 && chosen < all, `${chosen} of ${all} episodes`);
  assertEquals(complaints, []);
  await page.close();
}

async function checkWithoutJavaScript(browser: Browser, path: string): Promise<void> {
  const { page } = await openFile(browser, { path, javaScript: false, width: 360 });
  const text = await page.evaluate(() => document.body.innerText);
  // Numbers of a chart, the matrix and the rules of triage: all as tables.
  for (const part of ["✗ 0.54", "Table: Reward and pass rate", "check 1 violated", "44.7"]) {
    assertStringIncludes(text, part);
  }
  assertEquals(await page.evaluateAll("details.data:not([open])", (all) => all.length), 0);
  const heights = await page.evaluateAll(
    "canvas",
    (all) => all.map((canvas) => canvas.getBoundingClientRect().height),
  );
  assert(heights.every((height) => height === 0), "no empty frames of charts");
  assert(await overflowOf(page) <= 0);
  await page.close();
}

/** Another trainer's run: what is said first comes first, its link leads to a drawn chart, at every width. */
async function checkLog(browser: Browser, path: string): Promise<void> {
  const { page, complaints } = await openFile(browser, { path });
  assertEquals(await page.title(), "trainer_state.json");
  const text = await page.evaluateOne("main", (main) => main.textContent ?? "");
  assert(text.indexOf("First:") < text.indexOf("sampler_trainer_gap"));
  const target = await page.evaluateOne(".finding a", (link) => link.getAttribute("href") ?? "");
  assertEquals(await page.evaluateAll(`${target} canvas`, (all) => all.length), 1);
  await drawAll(page);
  const blank = (await canvasesOf(page)).filter(({ paintedShare }) => !(paintedShare > 0.01));
  assertEquals(blank, []);
  assertEquals(complaints, []);
  await page.close();
  await checkWidths(browser, path, WIDTHS.slice(0, 1));
}

async function checkLongRun(browser: Browser, path: string): Promise<void> {
  const { page, complaints } = await openFile(browser, { path });
  // The smallest of three: another process may have had the processor.
  const times = [await drawAll(page), await drawAll(page), await drawAll(page)];
  assert(Math.min(...times) < 1000, `all charts took ${times.map(Math.round)} ms`);
  const canvases = await canvasesOf(page);
  const { reward = 0 } = canvases.find(({ id }) => id === "run-0-reward")?.points ?? {};
  assert(reward > 100 && reward <= 800, `${reward} points`);
  assertEquals(complaints, []);
  await page.close();
}

Deno.test("agentrl report writes one file that a browser shows to every kind of reader", async () => {
  await withFolder(async (folder) => {
    writeRun(`${folder}/run`);
    writeRun(`${folder}/long`, 10_000);
    writeFaults(`${folder}/faults`);
    writeMatrix(`${folder}/matrix.json`);
    writeLab(`${folder}/lab`);
    await writeReferee(`${folder}/referee.json`);
    const [small, long] = [`${folder}/small.html`, `${folder}/long.html`];
    const inputs = ["run", "faults", "matrix.json", "lab", "referee.json"].map((name) =>
      `${folder}/${name}`
    );
    const made = await agentrl(["report", ...inputs, "--out", small, "--json"]);
    assertEquals([made.code, made.stderr], [0, ""]);
    const { sizeBytes } = JSON.parse(made.stdout);
    assertEquals(Deno.statSync(small).size, sizeBytes);
    const madeLong = await agentrl(["report", `${folder}/long`, "--out", long]);
    assertEquals(madeLong.code, 0, madeLong.stderr);
    assert(Deno.statSync(long).size < 2_000_000);
    const [theirs, log] = [`${folder}/trainer_state.json`, `${folder}/log.html`];
    Deno.writeTextFileSync(theirs, trlLog());
    const madeLog = await agentrl(["report", theirs, "--out", log]);
    assertEquals(madeLog.code, 0, madeLog.stderr);
    await withBrowser(async (browser) => {
      await checkLog(browser, log);
      await checkAccess(browser, { path: log, width: 360, scheme: "light" });
      await checkAccess(browser, { path: small, width: 1280, scheme: "dark" });
      await checkDrawn(browser, small);
      await checkHostile(browser, small);
      await checkReaders(browser, small);
      await checkTools(browser, small);
      await checkWidths(browser, small);
      await checkWithoutJavaScript(browser, small);
      await checkLongRun(browser, long);
    });
  });
});

Deno.test("openFile() hears of errors, warnings and requests of a page", async () => {
  await withFolder(async (folder) => {
    const path = `${folder}/page.html`;
    Deno.writeTextFileSync(
      path,
      `<title>t</title><img src="other.png"><script>
        console.log("fine"); console.warn("beware"); setTimeout(() => { throw new Error("thrown"); });
      </script>`,
    );
    await withBrowser(async (browser) => {
      const { page, complaints } = await openFile(browser, { path });
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
      const text = complaints.join("\n");
      for (const part of ["beware", "thrown", `file://${folder}/other.png`]) {
        assertStringIncludes(text, part);
      }
      assert(!text.includes("fine"));
    });
  });
});

commandTest("agentrl report refuses what it cannot show, and writes nothing then", async () => {
  await withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/other.json`, `{"a": 1}`);
    Deno.mkdirSync(`${folder}/empty`);
    Deno.mkdirSync(`${folder}/broken`);
    Deno.writeTextFileSync(`${folder}/broken/metrics.jsonl`, `{"step": "one"}\n`);
    const out = `${folder}/report.html`;
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [[], /name what to show/],
      [[`${folder}/missing`], /Cannot read .*missing/],
      [[`${folder}/empty`], /Cannot find a log in .*empty/],
      [[`${folder}/other.json`], /holds no metrics in a known form/],
      [[`${folder}/broken`], /holds no metrics in a known form/],
    ];
    for (const [paths, sentence] of cases) {
      assertRefused(await agentrlHere(["report", ...paths, "--out", out]), { code: 2, sentence });
    }
    assertEquals(
      Array.from(Deno.readDirSync(folder)).some(({ name }) => name === "report.html"),
      false,
    );
  });
});
