/** Tests of src/live/replay.ts: a recording answers as a session does. */
import { assertEquals } from "@std/assert";
import type { Answer, Recording } from "../../src/live/messages.ts";
import { Replay } from "../../src/live/replay.ts";

const SETTINGS = { fault: "mask_shift", seed: 0, steps: 2 } as const;

/** Of an answer only what a replay looks at. */
const stepped = (run: "healthy" | "broken", step: number, ms: number) =>
  ({ kind: "stepped", run, row: { step }, ms }) as unknown as Answer;
const triaged = (run: "healthy" | "broken") => ({ kind: "triaged", run }) as unknown as Answer;

const RECORDING: Recording = {
  adapter: { name: "a GPU", isSoftware: false },
  settings: SETTINGS,
  answers: [
    { kind: "played", episodes: [] },
    { kind: "checked", run: "healthy", results: [] },
    { kind: "checked", run: "broken", results: [] },
    { kind: "ready", settings: SETTINGS },
    stepped("healthy", 0, 10),
    triaged("healthy"),
    stepped("broken", 0, 20),
    triaged("broken"),
    stepped("healthy", 1, 300),
    stepped("broken", 1, 200),
    { kind: "ended", hashes: {} },
  ].map((answer) => ({ ms: 0, answer: answer as Answer })),
};

/** A replay with a clock that is moved by hand, and what it says: the time of each answer and what it is about. */
function played() {
  const timers: { ms: number; run: () => void }[] = [];
  const said: string[] = [];
  let nowMs = 0;
  const replay = new Replay(
    RECORDING,
    (answer) => {
      const step = answer.kind === "stepped" ? ` ${answer.row.step}` : "";
      said.push(`${nowMs} ${answer.kind}${"run" in answer ? ` ${answer.run}` : ""}${step}`);
    },
    (run, ms) => timers.push({ ms: nowMs + ms, run }),
  );
  /** Lets the earliest timer ring; false where there is none. */
  const tick = () => {
    timers.sort((a, b) => a.ms - b.ms);
    const timer = timers.shift();
    if (!timer) return false;
    nowMs = timer.ms;
    timer.run();
    return true;
  };
  const rest = () => {
    while (tick());
    return said.splice(0);
  };
  return { replay, tick, rest };
}

Deno.test("Replay answers each request, and makes steps with the pace of the recording", () => {
  const { replay, rest } = played();
  replay.send({ kind: "open" });
  assertEquals(rest(), ["0 opened", "0 played"]);
  replay.send({ kind: "begin", settings: { fault: undefined, seed: 9, steps: 9 } });
  assertEquals(rest(), ["0 checked healthy", "0 checked broken", "0 ready"]);
  replay.send({ kind: "step", steps: "one" });
  assertEquals(rest(), [
    "120 stepped healthy 0",
    "120 triaged healthy",
    "120 stepped broken 0",
    "120 triaged broken",
  ]);
  replay.send({ kind: "step", steps: "all" });
  assertEquals(rest(), ["620 stepped healthy 1", "620 stepped broken 1", "620 ended"]);
  replay.send({ kind: "step", steps: "all" });
  assertEquals(rest(), []);
});

Deno.test("Replay stops behind the step that is played, and begins again", () => {
  const { replay, tick, rest } = played();
  replay.send({ kind: "begin", settings: SETTINGS });
  replay.send({ kind: "step", steps: "all" });
  tick();
  replay.send({ kind: "pause" });
  assertEquals(rest().slice(3), [
    "120 stepped healthy 0",
    "120 triaged healthy",
    "120 stepped broken 0",
    "120 triaged broken",
    "120 paused",
  ]);
  replay.send({ kind: "step", steps: "one" });
  replay.send({ kind: "begin", settings: SETTINGS }); // What was being played is dropped.
  replay.send({ kind: "step", steps: "one" });
  assertEquals(rest().filter((text) => /stepped|ready/.test(text)).map((text) => text.slice(4)), [
    "ready",
    "stepped healthy 0",
    "stepped broken 0",
  ]);
  replay.send({ kind: "pause" });
  assertEquals(rest().length, 1);
});
