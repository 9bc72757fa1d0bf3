/** Tests of following a run: it is not there yet, grows, is half a line, restarts, is cut, replaced, deleted. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { lastStep } from "../../src/report/watch_data.ts";
import { FollowedRun } from "../../src/watch/follow_run.ts";
import { distinctNames, watchRuns } from "../../src/watch/watch_runs.ts";
import { withFolder } from "../files/with_folder.ts";
import { writeRun } from "../report/fixture.ts";
import { testReading, trlRow, trlRows } from "./reading.ts";

const append = (path: string, text: string) => Deno.writeTextFileSync(path, text, { append: true });

function follow(path: string) {
  const run = new FollowedRun(path, { ...testReading(), name: "run" });
  let known = 0;
  return {
    /** Looks, and answers what is new. */
    look: async () => {
      const isChanged = await run.look();
      const { problem, pending, notices } = run.state;
      const news = notices.slice(known).map(({ text }) => text.replaceAll(path, "LOG"));
      known = notices.length;
      return {
        isChanged,
        step: lastStep(run.state),
        news,
        problem: problem?.replaceAll(path, "LOG"),
        pending: pending?.replaceAll(path, "LOG"),
      };
    },
    run,
  };
}

Deno.test("a followed log may come late, grow, and be half a line", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    const { look, run } = follow(path);
    const none = await look();
    assertEquals([none.isChanged, none.step, none.news], [true, undefined, []]);
    assertMatch(none.problem ?? "", /there is nothing at LOG yet/);
    assertEquals((await look()).isChanged, false);
    Deno.writeTextFileSync(path, "");
    assertMatch((await look()).problem ?? "", /LOG: it is empty/);
    append(path, trlRows(0, 8));
    const grown = await look();
    assertEquals([grown.isChanged, grown.step, grown.problem], [true, 7, undefined]);
    assertEquals((await look()).isChanged, false, "nothing has changed");
    append(path, trlRow(8).slice(0, 30));
    const half = await look();
    assertEquals(half.step, 7);
    assertMatch(half.pending ?? "", /last line of LOG is half-written \(30 characters so far\)/);
    append(path, trlRow(8).slice(30).trimEnd());
    const whole = await look();
    assertEquals([whole.step, whole.pending], [8, undefined], "only its line feed is missing");
    append(path, `\n${trlRows(9, 30)}`);
    const found = await look();
    assert(
      found.news.some((text) => /^step 29: \w*gap\w* \(suspect\)$/.test(text)),
      found.news.join(),
    );
    assertEquals((await look()).news, [], "a finding is said once");
    append(path, trlRows(30, 32));
    assertEquals((await look()).news, [], "a step that moves is no news");
    assertEquals(run.state.view?.steps.length, 32);
  }));

Deno.test("a followed log that is set back, cut, replaced or deleted says so", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    const { look } = follow(path);
    Deno.writeTextFileSync(path, trlRows(0, 12));
    await look();
    append(path, trlRows(6, 9));
    const back = await look();
    assertEquals(back.step, 8);
    assertMatch(back.news.join(), /set back from step 11 to step 6/);
    Deno.writeTextFileSync(path, trlRows(0, 4));
    const cut = await look();
    assertEquals(cut.step, 3);
    assertMatch(cut.news.join(), /LOG was cut from 3\.\d KB to \d+ bytes|LOG was cut from/);
    assertMatch(cut.news.join(), /goes back from step 8 to step 3/);
    Deno.writeTextFileSync(`${folder}/new`, trlRows(0, 6));
    Deno.renameSync(`${folder}/new`, path);
    const other = await look();
    assertEquals(other.step, 5);
    assertMatch(other.news.join(), /LOG was replaced by another file/);
    Deno.removeSync(path);
    const gone = await look();
    assertEquals([gone.step, gone.news.length], [5, 1], "what it held last is still there");
    assertMatch(gone.news.join(), /LOG was deleted/);
    assertMatch(gone.problem ?? "", /nothing at LOG any more/);
    assertEquals((await look()).news, []);
    Deno.writeTextFileSync(path, trlRows(0, 3));
    const again = await look();
    assertEquals([again.step, again.problem], [2, undefined]);
    assertMatch(again.news.join(), /LOG is there now/);
  }));

Deno.test("a followed document that is written afresh each time is not called replaced", () =>
  withFolder(async (folder) => {
    const path = `${folder}/trainer_state.json`;
    const { look, run } = follow(folder);
    const write = (count: number) => {
      const rows = Array.from({ length: count }, (_, i) => JSON.parse(trlRow(i + 1)));
      const state = { global_step: count, max_steps: 40, logging_steps: 1, log_history: rows };
      Deno.writeTextFileSync(`${path}.new`, JSON.stringify(state));
      Deno.renameSync(`${path}.new`, path);
    };
    write(4);
    await look();
    write(10);
    const { step, news } = await look();
    assertEquals([step, news.filter((text) => /replaced|cut|deleted/.test(text))], [10, []]);
    assertEquals(run.state.pace.plannedSteps, 40);
    // 6 steps came within a second of the test's clock.
    assertEquals(typeof run.state.pace.left?.durationMs, "number");
    assertEquals(run.state.pace.tokensPerSecond, undefined, "the log does not tell it");
  }));

Deno.test("a followed run of ours shows its pace, what is said of it, and the episodes of its last step", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    writeRun(path, 24);
    const metrics = Deno.readTextFileSync(`${path}/metrics.jsonl`).split("\n").slice(0, 12);
    Deno.removeSync(`${path}/metrics.jsonl`);
    const { look, run } = follow(path);
    assertMatch((await look()).problem ?? "", /the run has begun/);
    Deno.writeTextFileSync(`${path}/metrics.jsonl`, `${metrics.join("\n")}\n`);
    const timing = metrics.map((_, step) =>
      JSON.stringify({
        step,
        time: new Date(2000 * step).toISOString(),
        seconds: 1.5,
        tokens: 900,
        tokens_per_second: 600 + step,
        lr: 0.01,
      })
    );
    Deno.writeTextFileSync(`${path}/timing.jsonl`, `${timing.join("\n")}\n`);
    assertEquals((await look()).step, 11);
    const { own, pace, findings } = run.state;
    assertEquals(pace.plannedSteps, 24);
    assertEquals(pace.tokensPerSecond?.value, 611);
    assertEquals(pace.left?.durationMs, 12 * 2000, "with what lies between two steps");
    assertEquals(new Set(own?.episodes.map(({ step }) => step)), new Set([5]));
    assert(findings.some(({ class: kind }) => kind === "violated"), "its checks are violated");
    assertEquals((await look()).isChanged, false);
  }));

Deno.test("a followed token dump shows its last samples, also while a row is being written", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/metrics.jsonl`, trlRows(0, 5));
    const row = (i: number) =>
      JSON.stringify({ v: 1, step: i, phase: "pre", ids: [5, i], mask: [0, 1], reward: i });
    const rows = Array.from({ length: 7 }, (_, i) => row(i)).join("\n");
    Deno.writeTextFileSync(`${folder}/tokens.jsonl`, `${rows}\n${row(7).slice(0, 20)}`);
    const { look, run } = follow(folder);
    await look();
    assertEquals(run.state.samples.map(({ step, answer }) => [step, answer]), [
      [6, "5 6"],
      [5, "5 5"],
      [4, "5 4"],
      [3, "5 3"],
    ]);
  }));

Deno.test("watchRuns() tells of changes until it is stopped, and leaves nothing in the folder", () =>
  withFolder(async (folder) => {
    const path = `${folder}/log.jsonl`;
    Deno.writeTextFileSync(path, trlRows(0, 3));
    const stop = new AbortController();
    const steps: (number | undefined)[] = [];
    const ended = await watchRuns([path, `${folder}/none`], {
      ...testReading(),
      signal: stop.signal,
      pollMs: 5,
      onChange: ([run]) => {
        steps.push(lastStep(run));
        if (steps.length === 1) append(path, trlRow(3));
        else stop.abort();
      },
    });
    assertEquals(steps, [2, 3]);
    assertEquals(ended.map(lastStep), [3, undefined]);
    assertEquals([...Deno.readDirSync(folder)].map(({ name }) => name), ["log.jsonl"]);
  }));

Deno.test("distinctNames() takes as much of a path as tells runs apart", () => {
  assertEquals(distinctNames(["runs/a/"]), ["a"]);
  assertEquals(distinctNames(["runs/a", "runs/b"]), ["a", "b"]);
  assertEquals(distinctNames(["x/a/log.jsonl", "x/b/log.jsonl"]), ["a/log.jsonl", "b/log.jsonl"]);
  assertEquals(distinctNames(["a", "a"]), ["a (1)", "a (2)"]);
  assertEquals(distinctNames(["/"]), ["/"]);
});
