/** Every log of text, cut off at every byte, as a run that is being written leaves it. */
import { assert } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { LOG_READERS } from "../../src/logs/readers.ts";
import type { RunLog } from "../../src/logs/run_log.ts";
import { readText } from "./read_text.ts";
import { TEXT_FIXTURES } from "./text_fixtures.ts";

/** Axis, step, key and value of everything that a log holds. */
function factsOf(log: RunLog): Set<string> {
  const facts = new Set<string>();
  for (const [key, { rows, values, axis }] of log.columns) {
    for (const [i, row] of rows.entries()) {
      facts.add(`${log.axes[axis]} ${log.rows.steps[row]} ${key} ${values[i]}`);
    }
  }
  for (const [name, value] of Object.entries(log.settings)) facts.add(`${name} ${value}`);
  return facts;
}

for (const [index, [form, text]] of TEXT_FIXTURES.entries()) {
  Deno.test(`${form} (${index}) cut off at every byte tells no number that the whole file does not tell`, async () => {
    const reader = LOG_READERS.find((reader) => reader.form === form);
    assert(reader);
    const bytes = new TextEncoder().encode(text);
    // Rows that are merged later, such as a row's epoch, are known only with the file that ends after them.
    const known = factsOf(await readText(text, { reader }));
    for (const line of text.matchAll(/[\r\n]/g)) {
      for (const fact of factsOf(await readText(text.slice(0, line.index + 1), { reader }))) {
        known.add(fact);
      }
    }
    let told = 0;
    for (let length = 0; length < bytes.length; length++) {
      // Detection costs as much as ten readers; a part of the lengths is enough for it.
      for (const chosen of length % 7 === 0 ? [reader, undefined] : [reader]) {
        let log: RunLog;
        try {
          log = await readText(bytes.subarray(0, length), chosen ? { reader: chosen } : {});
        } catch (error) {
          assert(error instanceof UserError, `${form} at ${length}: ${error}`);
          continue;
        }
        for (const fact of factsOf(log)) {
          assert(known.has(fact), `${form} cut at byte ${length} tells ${fact}`);
          told++;
        }
      }
    }
    assert(told > 0);
  });
}

Deno.test("every log with bytes changed, cut out and doubled at random ends in a log or in a sentence", async () => {
  let seed = 5;
  const random = (limit: number) => (seed = (seed * 16807) % 2147483647) % limit;
  let refused = 0, read = 0;
  for (const [, text] of TEXT_FIXTURES) {
    const whole = new TextEncoder().encode(text);
    for (let round = 0; round < 60; round++) {
      const bytes = [...whole];
      for (let change = 0; change <= random(6); change++) {
        const at = random(bytes.length);
        const length = random(3) === 0 ? random(40) : 0;
        bytes.splice(at, length, ...(random(2) === 0 ? [random(256)] : bytes.slice(at, at + 30)));
      }
      try {
        const log = await readText(Uint8Array.from(bytes));
        assert(log.rows.steps.every(Number.isFinite));
        read++;
      } catch (error) {
        assert(
          error instanceof UserError,
          `${error}: ${JSON.stringify(String.fromCharCode(...bytes))}`,
        );
        refused++;
      }
    }
  }
  assert(read > 100 && refused > 10, `${read} read, ${refused} refused`);
});
