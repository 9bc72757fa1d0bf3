/** Tests of the terminal's screen: it fits, whatever the size, and obeys nothing that others wrote. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { drawn, screenLines, spark } from "../../cli/watch_screen.ts";
import { lineDisplay } from "../../cli/watch_terminal.ts";
import { FollowedRun } from "../../src/watch/follow_run.ts";
import type { WatchedRun } from "../../src/report/watch_data.ts";
import { withFolder } from "../files/with_folder.ts";
import { testReading, trlRows } from "../watch/reading.ts";

async function stateOf(text: string): Promise<WatchedRun> {
  const states: WatchedRun[] = [];
  await withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/log.jsonl`, text);
    const run = new FollowedRun(`${folder}/log.jsonl`, { ...testReading(), name: "run\x1b[2J" });
    await run.look();
    states.push(run.state);
  });
  return states[0];
}

Deno.test("screenLines() fits every size, and its colours are all that a terminal obeys", async () => {
  const run = await stateOf(trlRows(0, 40));
  for (const columns of [20, 50, 80, 120, 300]) {
    for (const rows of [5, 12, 60]) {
      const size = { columns, rows, nowMs: 0 };
      const lines = screenLines([run, run], { ...size, hasColours: false });
      assert(lines.length <= rows, `${lines.length} of ${rows}`);
      const wide = lines.filter((line) => line.length > columns);
      assertEquals(wide, [], String(columns));
      assert(!/\p{Cc}/u.test(lines.join("")), "a control character");
      const coloured = screenLines([run, run], { ...size, hasColours: true });
      assertEquals(coloured.map((line) => line.replaceAll(/\p{Cc}\[\d+m/gu, "")), lines);
    }
  }
  const text = screenLines([run], { columns: 50, rows: 60, nowMs: 0, hasColours: false }).join(
    "\n",
  );
  assertMatch(text, /run\\u001b\[2J\n {2}step 39\n/);
  assertMatch(text, /^ {2}reward +0\.[56]\d* [▁-█]{20}/m);
  assertMatch(text, /suspect \w*gap/);
});

Deno.test("screenLines() shows every run on a low screen, and says how many it cannot", async () => {
  const run = await stateOf(trlRows(0, 40));
  const linesOf = (count: number, rows: number) =>
    screenLines(Array.from({ length: count }, (_, i) => ({ ...run, name: `run ${i}` })), {
      columns: 50,
      rows,
      nowMs: 0,
      hasColours: false,
    });
  const two = linesOf(2, 15);
  assertEquals(two.filter((line) => /^run \d$|^ {2}step 39$/.test(line)).length, 4);
  assertEquals(two.filter((line) => /^ {2}suspect /.test(line)).length, 2, "findings come first");
  const twenty = linesOf(20, 15);
  assertEquals([twenty.length, twenty[14]], [
    15,
    "and 16 more runs, for which the window is too low",
  ]);
  assertEquals(linesOf(5, 16).filter((line) => /^run \d$/.test(line)).length, 5);
  assertEquals(linesOf(3, 13).filter((line) => /^ {2}suspect /.test(line)).length, 3);
  // Where there is room, nothing is left out.
  const tall = linesOf(2, 80);
  assertEquals(tall.filter((line) => /^ {2}loss /.test(line)).length, 2);
});

Deno.test("drawn() clears behind each line and below the last, and never scrolls", () => {
  assertEquals(drawn(["a", "b"]), "\x1b[Ha\x1b[K\r\nb\x1b[K\x1b[J");
});

Deno.test("spark() shows a spike, however many values share a block", () => {
  const values = Float64Array.from({ length: 1000 }, (_, i) => i === 500 ? 90 : i % 2);
  assertEquals(spark(values, 10), "▁▁▁▁▁█▁▁▁▁");
  assertEquals(spark(Float64Array.of(1, NaN, 2), 10), "▁█");
  assertEquals(spark(Float64Array.of(3, 3), 10), "▁▁");
  assertEquals([spark(Float64Array.of(), 10), spark(values, 0)], ["", ""]);
});

Deno.test("lineDisplay() writes what is new and nothing twice, as text and as JSON", async () => {
  const [short, long] = [await stateOf(trlRows(0, 12)), await stateOf(trlRows(0, 40))];
  const lines: string[] = [];
  const display = lineDisplay({ json: false, write: (line) => lines.push(line) });
  display.show([short]);
  display.show([short]);
  const first = lines.splice(0);
  assertEquals(first.filter((line) => line.includes("step 11;")).length, 1);
  display.show([long]);
  display.show([long]);
  assertEquals(lines.filter((line) => /step 39;/.test(line)).length, 1);
  assertEquals(lines.filter((line) => /\(suspect\): Sampler and trainer/.test(line)).length, 1);
  assert([...first, ...lines].every((line) => !/\p{Cc}/u.test(line)));

  const rows: string[] = [];
  const json = lineDisplay({ json: true, write: (line) => rows.push(line) });
  json.show([short]);
  json.show([short]);
  json.show([{ ...short, problem: "gone" }]);
  const [one, two, ...none] = rows.map((row) => JSON.parse(row));
  assertEquals(none, []);
  assertEquals([one.step, one.problem, two.problem], [11, null, "gone"]);
});
