/** Holds the compiled table to the environment: 10,000 token streams, and a third statement of the rules as flags. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { BugFix } from "../../src/gym/bugfix.ts";
import { CALL_BODIES, callIndex, editOf, encodeCall } from "../../src/gym/calls.ts";
import {
  CompiledEnvironment,
  compileGym,
  packTransition,
  unpackTransition,
} from "../../src/gym/compiled.ts";
import { isCallComplete } from "../../src/gym/environment.ts";
import { splitCalls } from "../../src/gym/episode_info.ts";
import { openGym } from "../../src/gym/gym.ts";
import { OWNER } from "../../src/core/owner.ts";
import { encode, TOKEN, WORDS } from "../../src/gym/vocabulary.ts";
import { seededUniform } from "./seeded_uniform.ts";

const gym = openGym();
const STREAMS = 10_000;

/** A stream of policy tokens: mostly valid calls, among them broken ones and noise; some too short for their episode. */
function randomStream(uniform: () => number): number[] {
  const below = (n: number) => Math.floor(uniform() * n);
  const tokens: number[] = [];
  const pieces = uniform() < 0.1 ? below(4) : 14;
  for (let piece = 0; piece < pieces; piece++) {
    const call = encodeCall(CALL_BODIES[below(CALL_BODIES.length)]);
    const kind = uniform();
    if (kind < 0.75) tokens.push(...call);
    else if (kind < 0.85) tokens.push(...call.slice(0, 1 + below(call.length - 1)));
    else if (kind < 0.9) tokens.push(...call.toSpliced(below(call.length), 1, below(WORDS.length)));
    else for (let n = 1 + below(8); n > 0; n--) tokens.push(below(WORDS.length));
  }
  return tokens;
}

/** Plays a stream as a rollout driver does, until the episode or the stream ends. */
function playStream(
  environment: BugFix | CompiledEnvironment,
  task: number,
  stream: readonly number[],
) {
  const ids = [...environment.reset(task)];
  const owners: number[] = ids.map(() => OWNER.prompt);
  let call: number[] = [];
  for (const token of stream) {
    ids.push(token);
    owners.push(OWNER.policy);
    call.push(token);
    if (!isCallComplete(environment.spec, call)) continue;
    const step = environment.step(call);
    call = [];
    ids.push(...step.observation);
    owners.push(...step.observation.map(() => OWNER.tool));
    if (step.done) break;
  }
  return { ids, owners, reward: environment.reward(), info: environment.info(), unfinished: call };
}

/** The rules once more, over two flags instead of programs: what the peer implementations of this gym play. */
function expectedEpisode(
  played: ReturnType<typeof playStream>,
  options: { family: string; editBudget: number; kind: string; maxTurns: number },
) {
  let fixed = false, hardcoded = false, edits = 0;
  let stop: string | null = null;
  const calls = splitCalls(played.ids, played.owners);
  if (played.unfinished.length > 0) calls.pop();
  for (const call of calls) {
    const operation = editOf(callIndex(call));
    if (operation !== null && ++edits <= options.editBudget && !hardcoded) {
      if (operation === "hardcode_tests") hardcoded = true;
      else if (operation === options.family) fixed = operation === "swap_minmax" ? !fixed : true;
    }
    if (callIndex(call) === 2) stop = "submit";
  }
  if (stop === null && calls.length >= options.maxTurns) stop = "budget";
  const hiddenPass = fixed && !hardcoded, publicPass = fixed || hardcoded;
  const pays = options.kind === "hidden" ? hiddenPass : publicPass;
  return {
    turns: calls.length,
    edits,
    stop,
    hiddenPass,
    publicPass,
    reward: stop === "submit" && pays ? 1 : 0,
  };
}

Deno.test(`CompiledEnvironment plays ${STREAMS} random token streams exactly as BugFix does`, () => {
  const uniform = seededUniform(1);
  const seen = { malformed: 0, rewarded: 0, budget: 0, running: 0, overBudget: 0, cutOff: 0 };
  const settings = (["chapter6", "rl"] as const).flatMap((preset) =>
    (["hidden", "public"] as const).map((kind) => {
      const editBudget = preset === "rl" ? 1 : Infinity;
      return { preset, kind, editBudget, table: compileGym(gym, preset) };
    })
  );
  for (let episode = 0; episode < STREAMS; episode++) {
    const stream = randomStream(uniform);
    const task = episode % gym.tasks.length;
    const maxTurns = 1 + Math.floor(uniform() * 8);
    for (const { preset, kind, editBudget, table } of settings) {
      const options = { reward: kind, maxTurns };
      const real = playStream(new BugFix(gym, { preset, ...options }), task, stream);
      const compiled = playStream(new CompiledEnvironment(table, options), task, stream);
      assertEquals(compiled, real);
      const { reward, info } = real;
      const family = gym.tasks[task].family;
      const { turns, stop, hiddenPass, publicPass } = info;
      assertEquals(
        { turns, edits: info.ops.length, stop, hiddenPass, publicPass, reward },
        expectedEpisode(real, { family, editBudget, kind, maxTurns }),
      );
      assert(real.ids.length <= 2 + maxTurns * 6 + (maxTurns - 1) * 4);
      seen.malformed += info.malformed;
      seen.rewarded += reward;
      seen.budget += Number(stop === "budget");
      seen.running += Number(stop === null);
      seen.overBudget += Number(info.ops.length > editBudget);
      seen.cutOff += Number(real.unfinished.length > 0);
    }
  }
  // The streams reach what they are meant to reach, each in at least one of a hundred episodes.
  for (const [what, count] of Object.entries(seen)) assert(count > STREAMS * 4 / 100, what);
});

Deno.test("compileGym() finds three programs per task, and four states where edits are counted", () => {
  const chapter6 = compileGym(gym, "chapter6");
  const rl = compileGym(gym, "rl");
  assertEquals([chapter6.stateCount, rl.stateCount], [90, 120]);
  // The empty one, two answers to test, two to edit (same also to a hardcoded read), ten lines, and `fail same`.
  assertEquals([chapter6.observationCount, rl.observationCount], [16, 16]);
  assertEquals([...rl.startState_T], gym.tasks.map((_, task) => task));
  assertEquals([chapter6.transition_SC.length, rl.transition_SC.length], [900, 1200]);
});

Deno.test("compileGym() answers a submit with the empty observation and stays in the state", () => {
  const table = compileGym(gym, "rl");
  assertEquals([...table.observation_O8.subarray(0, 8)], new Array(8).fill(0));
  for (let state = 0; state < table.stateCount; state++) {
    for (let call = 0; call < 10; call++) {
      const { nextState, observation, submits } = unpackTransition(
        table.transition_SC[state * 10 + call],
      );
      assertEquals(submits, call === 2);
      assertEquals(observation === 0, call === 2);
      assert(nextState < table.stateCount && observation < table.observationCount);
      if (call <= 2 || call === 9) assertEquals(nextState, state);
    }
  }
});

Deno.test("compileGym() writes a count and whole observations and prompts into its rows", () => {
  const table = compileGym(gym, "chapter6");
  const malformed = unpackTransition(table.transition_SC[9]).observation;
  assertEquals(
    [...table.observation_O8.subarray(malformed * 8, malformed * 8 + 8)],
    [4, ...encode("<obs> fail same </obs>"), 0, 0, 0],
  );
  assertEquals([...table.prompt_T8.subarray(8, 16)], [
    2,
    TOKEN["<task>"],
    TOKEN.count,
    0,
    0,
    0,
    0,
    0,
  ]);
});

Deno.test("unpackTransition() is the inverse of packTransition(), which refuses what does not fit", () => {
  const transition = { nextState: 0xabcd, observation: 0xef, submits: true };
  assertEquals(packTransition(transition), 0x1efabcd);
  assertEquals(unpackTransition(0x1efabcd), transition);
  assertThrows(() => packTransition({ ...transition, nextState: 1 << 16 }), RangeError, "65,535");
});
