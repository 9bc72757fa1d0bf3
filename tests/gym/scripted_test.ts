/** Holds the scripted policies to their pass rates, counted exactly where they can be. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { BugFix } from "../../src/gym/bugfix.ts";
import { CompiledEnvironment, compileGym, unpackTransition } from "../../src/gym/compiled.ts";
import { openGym } from "../../src/gym/gym.ts";
import {
  blindPolicy,
  oraclePolicy,
  randomPolicy,
  readerPolicy,
  scriptedEpisode,
  type ScriptedPolicy,
} from "../../src/gym/scripted.ts";
import { OWNER } from "../../src/core/owner.ts";
import { decode } from "../../src/gym/vocabulary.ts";
import { seededUniform } from "./seeded_uniform.ts";

const gym = openGym();
const TRAIN_TASKS = 20;

/** The pass rate over the training tasks, a hundred episodes each. */
async function passRate(policy: ScriptedPolicy, preset: "chapter6" | "rl"): Promise<number> {
  const environment = new BugFix(gym, { preset });
  const uniform = seededUniform(7);
  let passed = 0;
  const episodes = TRAIN_TASKS * 100;
  for (let episode = 0; episode < episodes; episode++) {
    const task = episode % TRAIN_TASKS;
    passed += (await scriptedEpisode(policy, { environment, task, uniform })).reward;
  }
  return passed / episodes;
}

/** Four standard errors of 2,000 episodes: a right policy of a fixed seed fails with probability below 1e-4. */
const within = (rate: number) => 4 * Math.sqrt(rate * (1 - rate) / (TRAIN_TASKS * 100));

/** The exact pass rate of random play: V = Σ over the nine calls of V(next, turns - 1) / 9, from the table. */
function exactRandomPassRate(preset: "chapter6" | "rl"): number {
  const table = compileGym(gym, preset);
  const value = (state: number, turns: number): number => {
    if (turns === 0) return 0;
    let sum = 0;
    for (let call = 0; call < 9; call++) {
      const { nextState, submits } = unpackTransition(table.transition_SC[state * 10 + call]);
      sum += submits ? table.hiddenPass_S[state] : value(nextState, turns - 1);
    }
    return sum / 9;
  };
  // Five turns of nine calls and a submit: one task a family, for the tasks of a family share their table's shape.
  return [0, 4, 8, 12, 16].reduce((sum, task) => sum + value(table.startState_T[task], 6), 0) / 5;
}

Deno.test("randomPolicy passes about one training episode in ten, as the table counts exactly", async () => {
  const exact = exactRandomPassRate("chapter6");
  assert(Math.abs(exact - 0.1) < 0.03, `${exact}`);
  const measured = await passRate(randomPolicy, "chapter6");
  assert(Math.abs(measured - exact) <= within(exact), `${measured} against ${exact}`);
});

Deno.test("blindPolicy passes one episode in five under both presets", async () => {
  for (const preset of ["chapter6", "rl"] as const) {
    const measured = await passRate(blindPolicy, preset);
    assert(Math.abs(measured - 0.2) <= within(0.2), `${measured}`);
  }
});

Deno.test("readerPolicy(0.4) passes 0.4 + 0.6 / 5 of its episodes", async () => {
  const measured = await passRate(readerPolicy(0.4), "rl");
  assert(Math.abs(measured - 0.52) <= within(0.52), `${measured}`);
});

Deno.test("oraclePolicy passes every episode of every task under both presets", async () => {
  for (const preset of ["chapter6", "rl"] as const) {
    const environment = new CompiledEnvironment(compileGym(gym, preset));
    for (let task = 0; task < gym.tasks.length; task++) {
      const { reward, info } = await scriptedEpisode(oraclePolicy, {
        environment,
        task,
        uniform: () => 0.5,
      });
      assertEquals([reward, info.turns, info.reads], [1, 3, 1]);
    }
  }
});

Deno.test("scriptedEpisode() records every token with its owner and nothing after the last call", async () => {
  const environment = new BugFix(gym, { preset: "chapter6" });
  const { ids, owners } = await scriptedEpisode(oraclePolicy, {
    environment,
    task: 0,
    uniform: () => 0,
  });
  assertEquals(
    decode(ids),
    "<task> total <call> read </call> <obs> acc 1 </obs> <call> edit fix_init </call> <obs> ok </obs> <call> submit </call>",
  );
  const { prompt, policy, tool } = OWNER;
  const runs = [[prompt, 2], [policy, 3], [tool, 4], [policy, 4], [tool, 3], [policy, 3]];
  assertEquals(owners, runs.flatMap(([owner, count]) => new Array(count).fill(owner)));
});

Deno.test("readerPolicy() refuses an observation that shows no bug", () => {
  const view = { turn: 1, observation: "pass", uniform: () => 0 };
  assertThrows(() => readerPolicy(1)(view), RangeError, '"pass" shows no bug');
});
