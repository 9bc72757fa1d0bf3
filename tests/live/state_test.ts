/** The page's state, answer by answer. */
import { assertEquals } from "@std/assert";
import type { Answer } from "../../src/live/messages.ts";
import {
  afterAnswer,
  afterRequest,
  firstState,
  type LiveState,
  runNames,
  stepsDone,
  tokensPerSecond,
} from "../../src/live/state.ts";
import { CONVERSATION, SETTINGS } from "./conversation.ts";

const hear = (state: LiveState, answers: readonly Answer[]) => answers.reduce(afterAnswer, state);

Deno.test("a conversation fills both runs, and each phase follows from what was said", () => {
  const readyAt = CONVERSATION.findIndex(({ kind }) => kind === "ready");
  let state = firstState(SETTINGS);
  assertEquals([state.phase, tokensPerSecond(state)], ["idle", undefined]);
  state = afterRequest(state, { kind: "open" });
  assertEquals(state.phase, "busy");
  state = hear(state, CONVERSATION.slice(0, readyAt + 1));
  assertEquals([state.phase, stepsDone(state), state.adapter?.name], ["waiting", 0, "a GPU"]);
  state = afterRequest(state, { kind: "step", steps: "all" });
  state = hear(state, CONVERSATION.slice(readyAt + 1, readyAt + 3));
  assertEquals([state.phase, stepsDone(state)], ["running", 0], "the broken run is a step behind");
  state = hear(state, CONVERSATION.slice(readyAt + 3));
  assertEquals([state.phase, stepsDone(state), tokensPerSecond(state)], ["ended", 2, 2000]);
  assertEquals(state.runs.broken.triage?.causes, [{ fault: "mask_shift", belief: 0.82 }]);
});

Deno.test("what begins again forgets the runs and keeps the machine", () => {
  const ended = hear(firstState(SETTINGS), CONVERSATION);
  const state = afterRequest(ended, { kind: "begin", settings: { ...SETTINGS, fault: undefined } });
  assertEquals([state.runs.healthy.rows, state.speed, state.hashes], [[], [], {}]);
  assertEquals([state.adapter?.name, runNames(state)], ["a GPU", ["healthy"]]);
});

Deno.test("a pause is heard while steps are made, and at no other time", () => {
  const running = afterRequest(firstState(SETTINGS), { kind: "step", steps: "all" });
  const pausing = afterRequest(running, { kind: "pause" });
  assertEquals(pausing.phase, "pausing");
  assertEquals(afterAnswer(pausing, { kind: "paused" }).phase, "waiting");
  const ended = hear(firstState(SETTINGS), CONVERSATION);
  assertEquals(afterRequest(ended, { kind: "pause" }).phase, "ended");
});

Deno.test("why a recording is played stays said while it is; a lost device is forgotten when it is opened again", () => {
  const failed = (reason: "no-webgpu" | "lost") =>
    afterRequest(
      afterAnswer(firstState(SETTINGS), { kind: "failed", reason, sentence: "Why." }),
      { kind: "open" },
    );
  const adapter = { name: "a GPU", isSoftware: false };
  const played = afterAnswer(failed("no-webgpu"), { kind: "opened", adapter, isReplay: true });
  assertEquals([played.failure?.sentence, played.isReplay], ["Why.", true]);
  assertEquals(failed("lost").failure, undefined);
  assertEquals(afterAnswer(failed("no-webgpu"), { kind: "opened", adapter }).failure, undefined);
});
