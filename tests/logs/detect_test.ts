/** Tests of src/logs/detect.ts, describe_head.ts and console_search.ts. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { detectReader } from "../../src/logs/detect.ts";
import { describeHead } from "../../src/logs/describe_head.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { allPoints, inputOf, readText } from "./read_text.ts";
import { TEXT_FIXTURES, VERL_TEXT } from "./text_fixtures.ts";

Deno.test("detectReader() knows each form by its content", () => {
  for (const [form, text] of TEXT_FIXTURES) {
    assertEquals(detectReader(inputOf(text), LOG_READERS).form, form, text.slice(0, 80));
  }
});

Deno.test("a console log is found behind more start-up messages than the head holds", async () => {
  const noise = "(WorkerDict pid=99) INFO loading 'weights': step 3 of 4 | {'a': 1}\n".repeat(3000);
  assert(noise.length > 65536);
  const log = await readText(noise + VERL_TEXT);
  assertEquals([log.source.form, log.source.producer], ["verl_console", "verl"]);
  assertEquals(allPoints(log), allPoints(await readText(VERL_TEXT)));
  for (const [form, text] of TEXT_FIXTURES.filter(([form]) => form.endsWith("_console"))) {
    const log = await readText(noise + text);
    assertEquals(log.source.form, form);
    assertEquals(allPoints(log), allPoints(await readText(text)));
  }
});

Deno.test("what is not a log ends in one sentence that says what was seen", async () => {
  const cases: readonly (readonly [string | Uint8Array, string])[] = [
    ["", "empty"],
    [Uint8Array.of(0x1f, 0x8b, 8, 0), "a gzip file"],
    [Uint8Array.of(0x80, 4, 0x95, 0), "a Python pickle"],
    [Uint8Array.of(1, 2, 0, 255), "binary data (its first bytes are 01 02 00 ff)"],
    ["Dear diary,\x1b[31m\u202e\n", 'text that begins with "Dear diary, [31m"'],
    ["x".repeat(100_000), `text that begins with "${"x".repeat(60)}…"`],
    ['{"input":"a","output":"b","score":1}\n', "JSON lines with the keys input, output, score"],
    ["\n \n", "nothing but whitespace"],
  ];
  for (const [content, seen] of cases) {
    const error = await assertRejects(() => readText(content), UserError);
    assert(error.message.startsWith(`Cannot read log: it is ${seen}, and holds`), error.message);
    // deno-lint-ignore no-control-regex
    assert(!/[\x00-\x1f]/.test(error.message));
  }
  const safetensors = new Uint8Array([2, 0, 0, 0, 0, 0, 0, 0, 0x7b, 0x22, 0x61]);
  assertEquals(describeHead(safetensors), "a safetensors file");
});

Deno.test("junk of many kinds ends in a sentence or in nothing, never in a crash", async () => {
  const mega = 2 ** 20;
  const junk: readonly (string | Uint8Array)[] = [
    crypto.getRandomValues(new Uint8Array(65536)),
    new Uint8Array(mega),
    "{".repeat(mega),
    "[".repeat(mega),
    '{"a":'.repeat(mega / 4),
    "[{".repeat(mega / 2),
    '{"log_history":[{"loss":1,"epoch":1,"step":',
    `{"log_history":${"[".repeat(mega)}`,
    "{'loss': ".repeat(mega / 8),
    `{'loss': 1, 'epoch': ${"[".repeat(mega)}\n${"}\n".repeat(1000)}`,
    `step:1 - ${"a:1 - ".repeat(mega / 8)}`,
    `step:1 - ${":".repeat(mega)}`,
    `(${"pid=1".repeat(mega / 8)} step:1 - a`,
    `step:1 - a:1\n - ${" ".repeat(mega)}x`,
    `Step 1 | ${"x ".repeat(mega / 4)}| ${" ".repeat(mega)}1`,
    `Step 1/2\n • ${" a".repeat(mega / 4)}`,
    "\x1b]".repeat(mega / 4) + "step:1 - a:1",
    "}\n".repeat(mega / 8),
    "Global step 1: {".repeat(mega / 32),
    "\r".repeat(mega),
    `{"__proto__": {"step": 5}, "step": 1, "constructor": 2, "toString": 3}\n`,
    "step:" + "9".repeat(400) + " - a:1\n",
  ];
  for (const content of junk) {
    const start = performance.now();
    try {
      const log = await readText(content);
      for (const step of log.rows.steps) assert(Number.isFinite(step));
    } catch (error) {
      assert(error instanceof UserError, String(error));
    }
    const shown = typeof content === "string" ? content.slice(0, 30) : "bytes";
    assert(performance.now() - start < 5000, `${shown} took ${performance.now() - start} ms`);
  }
  assertEquals(({} as Record<string, unknown>).step, undefined);
});
