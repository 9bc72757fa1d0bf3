/** The token page in a real browser: values of a token by every way, filters, links to tokens, accessibility, no JavaScript. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { HOSTILE } from "../report/fixture.ts";
import { withFolder } from "../files/with_folder.ts";
import { accessViolations } from "./accessibility.ts";
import { openFile, withBrowser } from "./browser.ts";
import { agentrl } from "./command_line.ts";
import type { Browser, Page, PageElement } from "./devtools.ts";

/** What functions that run in the page use there. */
declare const document: {
  readonly documentElement: { readonly scrollWidth: number; readonly clientWidth: number };
  readonly body: { readonly innerText: string };
  readonly activeElement: PageElement | null;
  querySelector(selector: string): Control | null;
};

interface Control extends PageElement {
  value: string;
  readonly hidden: boolean;
  innerHTML: string;
  click(): void;
  dispatchEvent(event: Event): boolean;
}

const WORDS = ["Ġfix", "Ċ", "ĠÃ©", HOSTILE.replaceAll(" ", "Ġ")];

function writeTokenizer(folder: string): void {
  const vocab = Object.fromEntries(WORDS.map((word, id) => [word, id]));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false };
  const model = { type: "BPE", vocab, merges: [] };
  const none = { truncation: null, padding: null, normalizer: null, post_processor: null };
  const tokenizer = {
    ...none,
    added_tokens: [],
    decoder: byteLevel,
    pre_tokenizer: byteLevel,
    model,
  };
  Deno.writeTextFileSync(`${folder}/tokenizer.json`, JSON.stringify(tokenizer));
}

/** A dump of 24 samples in groups of four; the trainer gives NaN at token 20 of the sixth and is off by 1.5 nats at token 9. */
function dump(): string {
  const rows = Array.from({ length: 24 }, (_, n) => {
    const tokens = Array.from({ length: 30 }, (_, i) => i);
    const sampler = tokens.map((i) => i < 6 ? null : -((i * i * 7 + n * 31) % 97) / 64);
    const trainer = sampler.map((logp, i) =>
      n === 5 && i === 20 ? "NaN" : logp === null ? null : logp - (n === 5 && i === 9 ? 1.5 : 0)
    );
    return {
      v: 1,
      step: 1 + Math.floor(n / 12),
      group: `g${Math.floor(n / 4)}`,
      sample: `s${n}`,
      ids: tokens.map((i) => i % WORDS.length),
      mask: tokens.map((i) => Number(i >= 6)),
      role: tokens.map((i) => i < 6 ? "u" : "a"),
      lp_sampler: sampler,
      lp_new: trainer,
      adv: n % 4 === 0 ? 1.5 : -0.5,
      reward: n % 4 === 0 ? 1 : 0,
      stop: n % 3 === 0 ? "length" : "eos",
    };
  });
  return rows.map((row) => `${JSON.stringify(row).replaceAll('"NaN"', "NaN")}\n`).join("");
}

/** What is in the box with a token's values; empty where it is hidden. */
function valuesOf(page: Page): Promise<string> {
  return page.evaluate(() => {
    const box = document.querySelector(".token-values");
    return box?.hidden ? "" : box?.textContent ?? "";
  });
}

async function checkValues(page: Page): Promise<void> {
  assertEquals(await valuesOf(page), "");
  // A link of a finding leads to its token, whatever is chosen.
  await page.evaluate(() => {
    const stop = document.querySelector('[data-choice="stop"]');
    if (stop) stop.value = "length";
    stop?.dispatchEvent(new Event("change"));
  });
  const status = () => page.evaluateOne("[role=status]", (one) => one.textContent);
  assertEquals(await status(), "8 of 8 sequences are shown.");
  await page.evaluate(() => document.querySelector('a[data-token="20"]')?.click());
  assertEquals(await status(), "8 of 24 sequences are shown.");
  const shown = await page.evaluate(() => [
    document.activeElement?.textContent,
    document.activeElement?.className,
    document.activeElement?.getAttribute("aria-describedby"),
  ]);
  assertEquals(shown, [" fix", "t broken pointed", "tokens-0-values"]);
  assertMatch(await valuesOf(page), /^token20id0text␣fixfinding\w+roleassistanttrainedyes/);
  // The keyboard, a tap and the mouse show values as well.
  await page.press("ArrowRight");
  assertMatch(await valuesOf(page), /^token21id1text↵role/);
  await page.press("Escape");
  assertEquals(await valuesOf(page), "");
  await page.evaluateAll(".token-text .t", (all) => (all[9] as Control).click());
  // Token 9 of the sixth: (81·7 + 155) mod 97 = 43, over 64.
  assertMatch(
    await valuesOf(page),
    /^token9id1.*log p, sampler-0\.671875log p, trainer-2\.171875gap-1\.5ratio0\.22313/,
  );
  const box = await page.evaluateOne(".token-values", (one) => {
    const { left, right } = one.getBoundingClientRect() as unknown as {
      left: number;
      right: number;
    };
    return [left, right];
  });
  const width = await page.evaluate(() => document.documentElement.clientWidth);
  assert(box[0]! >= 0 && box[1]! <= width, `the box stands from ${box} of ${width}`);
}

async function checkColours(page: Page): Promise<void> {
  const look = () =>
    page.evaluateAll(".token-text .t", (all) => all[9]?.className.split(" ")[1] ?? "");
  const looks: string[] = [await look()];
  for (const colour of ["mask", "role", "advantage", "probability"]) {
    await page.evaluate((name) => {
      const control = document.querySelector('[data-choice="colour"]');
      if (control) control.value = name;
      control?.dispatchEvent(new Event("change"));
    }, colour);
    looks.push(await look());
    assert(await page.evaluateAll(".token-legend li", (all) => all.length) >= 5, colour);
  }
  assertEquals(looks, ["cool-3", "trained", "role-assistant", "cool-2", "level-0"]);
}

async function checkAt(browser: Browser, path: string, width: number, scheme: "light" | "dark") {
  const { page, complaints } = await openFile(browser, { path, width, scheme });
  assertEquals(await page.title(), "dump");
  assertEquals(await page.evaluateAll("img", (all) => all.length), 0);
  const text = await page.evaluateOne("main", (main) => main.textContent ?? "");
  assertStringIncludes(text, HOSTILE);
  await checkValues(page);
  await checkColours(page);
  const overflow = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth
  );
  assert(overflow <= 0, `${overflow} px wider than ${width}`);
  assertEquals(await accessViolations(page), []);
  assertEquals(complaints, []);
  await page.close();
}

/** What finds nothing must be able to find something. */
async function checkAccessTest(browser: Browser, path: string): Promise<void> {
  const { page } = await openFile(browser, { path });
  await page.evaluate(() => {
    const main = document.querySelector("main");
    if (main) main.innerHTML = '<input type="text">';
  });
  assertMatch((await accessViolations(page)).join(), /critical: label at <input/);
  await page.close();
}

Deno.test("agentrl report shows the tokens of a dump to every kind of reader", () =>
  withFolder(async (folder) => {
    Deno.mkdirSync(`${folder}/dump`);
    Deno.writeTextFileSync(`${folder}/dump/tokens.jsonl`, dump());
    writeTokenizer(folder);
    const path = `${folder}/dump.html`;
    const made = await agentrl([
      ...["report", `${folder}/dump`, "--tokenizer", folder, "--out", path],
    ]);
    assertEquals([made.code, made.stderr], [0, ""]);
    await withBrowser(async (browser) => {
      await checkAt(browser, path, 360, "dark");
      await checkAt(browser, path, 1280, "light");
      await checkAccessTest(browser, path);
      const { page } = await openFile(browser, { path, javaScript: false, width: 360 });
      const text = await page.evaluate(() => document.body.innerText);
      // The worst sequence with its tokens, and the groups.
      for (const part of ["The worst 24 of 24 sequences", "−2.171875", '" é"', "Group g1"]) {
        assertStringIncludes(text, part);
      }
      await page.close();
    });
  }));
