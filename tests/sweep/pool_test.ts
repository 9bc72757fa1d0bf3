/** Tests of the pool with shell commands for cells: every cell once, failures alone, stops that free claims, heirs of the dead. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { exists } from "../../src/files/paths.ts";
import { readOutcome } from "../../src/sweep/outcomes.ts";
import { cellId } from "../../src/sweep/plan.ts";
import { type PoolOptions, type PoolState, runPool } from "../../src/sweep/pool.ts";
import { readSweep, type Sweep, writeSweep } from "../../src/sweep/sweep_folder.ts";
import { sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { lookAtCells } from "../../src/sweep/sweep_index.ts";
import { sweepStatus } from "../../src/sweep/sweep_status.ts";
import { namesIn } from "../e2e/command_line.ts";
import { withFolder } from "../files/with_folder.ts";

/** A sweep of `count` cells over the setting `lr`. */
function sweepOf(path: string, count: number): Sweep {
  const cells = Array.from({ length: count }, (_, lr) => ({
    ...{ id: cellId({ lr }), seed: 0, condition: null, values: { lr } },
  }));
  const shared = { name: "test", file: "test.json", settings: {}, axes: ["lr"], conditions: {} };
  writeSweep(path, { ...shared, command: "train", cells });
  return readSweep(path);
}

/** Runs a pool whose cells are shell scripts: $1 is the folder of the run, $2 the value of `lr`, $3 `new` or `begun`. */
async function pool(sweep: Sweep, script: string, options: Partial<PoolOptions> = {}) {
  const remarks: string[] = [];
  const states: PoolState[] = [];
  const result = await runPool({
    sweep,
    commandOf: ({ folder, values }, isBegun) => ({
      program: "sh",
      args: ["-c", script, "sh", folder, `${values.lr}`, isBegun ? "begun" : "new"],
    }),
    jobs: 2,
    claims: {
      owner: { host: "here", pid: Deno.pid, job: null },
      timeoutMs: 60_000,
      nowMs: () => performance.now(),
    },
    waits: true,
    isStopRequested: () => false,
    onState: (state) => states.push(state),
    onRemark: (sentence) => remarks.push(sentence),
    ...options,
  });
  const { done, failed, left, elsewhere } = result;
  return { counts: [done, failed.length, left, elsewhere], failed: result.failed, remarks, states };
}

/** A training that is done at once: its folder, and one line that says who began. */
const WORK = 'mkdir -p "$1" && echo "$3" >>"$1/starts"';

const startsOf = (sweep: Sweep) =>
  sweep.cells.map(({ folder }) =>
    exists(`${folder}/starts`) ? Deno.readTextFileSync(`${folder}/starts`).trim().split("\n") : []
  );

Deno.test("runPool() begins each cell once, and a second pool none", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 5);
    const first = await pool(sweep, `${WORK}; echo '{"steps": 3, "last": {"reward": 0.5}}'`);
    assertEquals([first.counts, first.remarks], [[5, 0, 0, 0], []]);
    assertEquals(startsOf(sweep), Array(5).fill(["new"]));
    assert(first.states.every(({ running }) => running <= 2));
    const [{ id }] = sweep.cells;
    const { ended: _, durationMs, ...outcome } = readOutcome(path, id) ?? { durationMs: 0 };
    assertEquals<unknown>(outcome, {
      ...{ state: "done", attempts: 1, exitCode: 0, problem: null, host: "here" },
      result: { steps: 3, last: { reward: 0.5 } },
    });
    assert(durationMs > 0);
    assertEquals(namesIn(sweepPaths(path).claims), []);
    const second = await pool(sweep, WORK);
    assertEquals([second.counts, startsOf(sweep)], [[5, 0, 0, 0], Array(5).fill(["new"])]);
    // Whoever removes a run wants it again.
    Deno.removeSync(sweep.cells[3].folder, { recursive: true });
    assertEquals((await pool(sweep, WORK)).counts, [5, 0, 0, 0]);
    assertEquals(startsOf(sweep), Array(5).fill(["new"]));
  }));

Deno.test("runPool() lets a failed cell stop no other one, says why it failed, and tries it again next time", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 4);
    const broken = `${WORK}; printf 'step 1\\rstep 2\\nCannot do %s\\n\\n' $2 >&2; test $2 != 1`;
    const first = await pool(sweep, `${broken} || exit 4`);
    assertEquals(first.counts, [3, 1, 0, 0]);
    assertEquals(first.failed.map(({ cell, problem }) => [cell.values.lr, problem]), [[
      1,
      "Cannot do 1",
    ]]);
    assertEquals(first.remarks, ["lr=1, seed 0 failed: Cannot do 1"]);
    const log = `${sweepPaths(path).logs}/${sweep.cells[1].id}.log`;
    assertMatch(Deno.readTextFileSync(log), /^--- attempt 1: lr=1, seed 0 on here, 20.*\nstep 1/);
    const again = await pool(sweep, `${broken} || kill -9 $$`);
    assertEquals(again.remarks, [
      "1 cell that failed earlier is tried again",
      "lr=1, seed 0 failed: it was ended by SIGKILL",
    ]);
    assertEquals([again.counts, readOutcome(path, sweep.cells[1].id)?.attempts], [[3, 1, 0, 0], 2]);
    assertEquals((await pool(sweep, WORK)).counts, [4, 0, 0, 0]);
    assertEquals(startsOf(sweep).map(({ length }) => length), [1, 3, 1, 1]);
  }));

Deno.test("runPool() takes a bad result that is printed for a result, and keeps what a command without a folder prints", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 2);
    const script = "test $2 = 0 && echo '{\"checks\": 3}'; exit 1";
    assertEquals((await pool(sweep, script, { keepsResult: true })).counts, [1, 1, 0, 0]);
    const [{ folder }] = sweep.cells;
    assertEquals(JSON.parse(Deno.readTextFileSync(`${folder}/result.json`)), { checks: 3 });
    assertEquals(readOutcome(path, sweep.cells[0].id)?.exitCode, 1);
  }));

Deno.test("runPool() stops on request: what runs saves itself, claims are free, and the next pool goes on", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 3);
    // A training that has begun, and saves itself when it is asked to.
    const script = `${WORK}; echo {} >"$1/config.json"; ` +
      'trap "echo saved >>\\"$1/starts\\"; exit 143" TERM; sleep 30 >/dev/null & wait';
    const isBegun = () => startsOf(sweep).filter(({ length }) => length > 0).length === 2;
    const stopped = await pool(sweep, script, { isStopRequested: isBegun });
    assertEquals([stopped.counts, stopped.remarks], [[0, 0, 3, 0], []]);
    assertEquals(startsOf(sweep), [["new", "saved"], ["new", "saved"], []]);
    assertEquals([namesIn(sweepPaths(path).claims), namesIn(sweepPaths(path).outcomes)], [[], []]);
    assertEquals((await pool(sweep, WORK)).counts, [3, 0, 0, 0]);
    assertEquals(startsOf(sweep), [["new", "saved", "begun"], ["new", "saved", "begun"], ["new"]]);
  }));

Deno.test("runPool() does not count a cell as failed that a scheduler's signal ended before the pool heard of it", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 1);
    const startMs = performance.now();
    const isStopRequested = () => performance.now() - startMs > 300;
    assertEquals((await pool(sweep, "kill $$", { isStopRequested })).counts, [0, 0, 1, 0]);
    assertEquals((await pool(sweep, "kill $$")).counts, [0, 1, 0, 0]);
  }));

Deno.test("two pools that share a folder do each cell once, and both know of all", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 12);
    const ends = await Promise.all(["a", "b"].map((host) =>
      pool(sweep, WORK, {
        claims: {
          owner: { host, pid: 1, job: null },
          timeoutMs: 60_000,
          nowMs: () => performance.now(),
        },
      })
    ));
    assertEquals(ends.map(({ counts }) => counts), [[12, 0, 0, 0], [12, 0, 0, 0]]);
    assertEquals(startsOf(sweep), Array(12).fill(["new"]));
    const hosts = new Set(sweep.cells.map(({ id }) => readOutcome(path, id)?.host));
    assertEquals([...hosts].sort(), ["a", "b"]);
  }));

Deno.test("runPool() waits for a cell of a silent machine and takes it over, or leaves it where it is not to wait", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 2);
    const { claims } = sweepPaths(path);
    Deno.mkdirSync(claims);
    const [{ id }] = sweep.cells;
    const content = { token: "t", host: "there", pid: 2, job: null, beat: 1 };
    Deno.writeTextFileSync(`${claims}/${id}.1`, JSON.stringify(content));
    const silent = { owner: { host: "here", pid: 1, job: null }, nowMs: () => performance.now() };
    const impatient = await pool(sweep, WORK, {
      claims: { ...silent, timeoutMs: 60_000 },
      waits: false,
    });
    assertEquals(impatient.counts, [1, 0, 1, 1]);
    assertEquals(sweepStatus(sweep).counts, { done: 1, failed: 0, running: 1, left: 0 });
    const patient = await pool(sweep, WORK, { claims: { ...silent, timeoutMs: 300 } });
    assertEquals([patient.counts, namesIn(claims)], [[2, 0, 0, 0], []]);
  }));

Deno.test("runPool() leaves a run alone whose own process still holds its lock", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 1);
    const [{ folder }] = sweep.cells;
    Deno.mkdirSync(folder, { recursive: true });
    using lock = Deno.openSync(`${folder}/lock`, { write: true, create: true });
    lock.lockSync(true);
    assertEquals((await pool(sweep, WORK, { waits: false })).counts, [0, 0, 1, 1]);
    lock.unlockSync();
    assertEquals((await pool(sweep, WORK)).counts, [1, 0, 0, 0]);
  }));

Deno.test("runPool() gives up a cell that another process has taken over, and writes nothing about it", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 1);
    const [{ id, folder }] = sweep.cells;
    const { claims } = sweepPaths(path);
    let isTaken = false;
    const lost = await pool(sweep, `${WORK}; trap "exit 143" TERM; sleep 30 >/dev/null & wait`, {
      waits: false,
      claims: {
        owner: { host: "here", pid: 1, job: null },
        timeoutMs: 600,
        nowMs: () => performance.now(),
      },
      onState: () => {
        if (isTaken || !exists(`${folder}/starts`)) return;
        isTaken = true;
        const content = { token: "t", host: "there", pid: 2, job: null, beat: 1 };
        Deno.writeTextFileSync(`${claims}/${id}.2`, JSON.stringify(content));
      },
    });
    assertEquals([lost.counts, namesIn(claims)], [[0, 0, 1, 1], [`${id}.1`, `${id}.2`]]);
    assertMatch(lost.remarks[0], /another process took it over/);
    assertEquals(readOutcome(path, id), undefined);
  }));

Deno.test("runPool() ends with a sentence where its program is missing, and holds no claim", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 3);
    const commandOf = () => ({ program: `${path}/nothing`, args: [] });
    await assertRejects(() => pool(sweep, "", { commandOf }), UserError, "Cannot start");
    assertEquals(namesIn(sweepPaths(path).claims), []);
  }));

Deno.test("lookAtCells() says the same from its index as from the folders, and does not need the index", () =>
  withFolder(async (path) => {
    const sweep = sweepOf(path, 4);
    const result = '{"steps": 7, "last": {"reward": 0.25, "eval_pass": 0.5}}';
    await pool(sweep, `${WORK}; echo '${result}'; test $2 != 2`);
    const { index, outcomes } = sweepPaths(path);
    const fresh = lookAtCells(sweep, { rebuild: true });
    assertEquals(fresh.get(sweep.cells[0].id)?.evalPass, 0.5);
    assertEquals(fresh.get(sweep.cells[0].id)?.steps, 7);
    assertEquals([fresh.size, lookAtCells(sweep)], [4, fresh]);
    // Of what is done the index is believed without a look at the file.
    const done = `${outcomes}/${sweep.cells[0].id}.json`;
    Deno.writeTextFileSync(done, "{");
    assertEquals(lookAtCells(sweep), fresh);
    Deno.removeSync(done);
    assertEquals(lookAtCells(sweep).size, 3);
    Deno.writeTextFileSync(index, "{ damaged");
    assertEquals(lookAtCells(sweep).size, 3);
  }));
