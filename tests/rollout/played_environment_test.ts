/** Tests of what an environment may answer: each mistake ends in one sentence with the task and the call. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import type { Environment, EpisodeInfo } from "../../src/gym/environment.ts";
import { EpisodeLostError } from "../../src/gym/environment.ts";
import { PlayedEnvironment } from "../../src/rollout/played_environment.ts";

const SPEC = { callEnd: 0, maxCallTokens: 2, maxTurns: 2, maxEpisodeTokens: 8, taskCount: 3 };
const INFO: EpisodeInfo = { task: "t", turns: 2, malformed: 0, stop: "end", calls: ["a", "b"] };

/** An environment that answers as it is told. */
function played(answers: Readonly<Record<string, unknown>>) {
  const environment = {
    spec: SPEC,
    reset: () => [1],
    step: () => ({ observation: [2], done: false }),
    reward: () => 1,
    info: () => INFO,
    ...answers,
  } as unknown as Environment;
  return new PlayedEnvironment(environment, {
    name: "doors",
    vocabSize: 4,
    metrics: "info" in answers ? [{ name: "peeks" }] : [],
  });
}

Deno.test("PlayedEnvironment adds up what calls are paid, and else asks for the reward", async () => {
  const free = played({});
  assertEquals(await free.reset(2), [1]);
  assertEquals(await free.step([3], 2), [2]);
  assertEquals(await free.ending(), { reward: 1, info: INFO });
  let call = 0;
  const paid = played({
    step: () => Promise.resolve({ observation: [2], done: ++call % 2 === 0, reward: 0.25 * call }),
    reward: () => {
      throw new Error("it is not asked");
    },
  });
  // Of a second episode nothing is left of the first.
  for (const expected of [0.75, 1.75]) {
    await paid.reset(0);
    assertEquals(await paid.step([3], 2), [2]);
    assertEquals(await paid.step([3], 4), undefined);
    assertEquals((await paid.ending()).reward, expected);
  }
});

Deno.test("PlayedEnvironment says in which task and call an environment fails or is wrong", async () => {
  const throwing = () => {
    throw new TypeError("x is undefined");
  };
  const ends = () => ({ observation: [], done: true });
  const cases: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
    [{ reset: throwing }, "doors failed in task 1, reset: x is undefined"],
    [{ reset: () => [] }, "doors is wrong in task 1, reset: its prompt is empty"],
    [{ reset: () => "ab" }, 'in task 1, reset: its prompt is "ab", but must be a list'],
    [{ reset: () => [1, 4] }, "token 1 of its prompt is 4, but ids run from 0 to 3"],
    [{ reset: () => [1, 1, 1, 1, 1, 1, 1] }, "its prompt of 7 tokens and a call of 2 exceed the 8"],
    [{ step: throwing }, "doors failed in task 1, call 1: x is undefined"],
    [{ step: () => Promise.reject("gone") }, "doors failed in task 1, call 1: gone"],
    [{ step: () => undefined }, "in task 1, call 1: done is missing, but must be true or false"],
    [{ step: () => ({ done: false }) }, "its observation is missing, but must be a list"],
    [{ step: () => ({ observation: [], done: false }) }, "its observation is empty"],
    [{ step: () => ({ observation: [0.5], done: false }) }, "token 0 of its observation is 0.5"],
    [
      { step: () => ({ observation: [1, 1, 1, 1, 1], done: false }) },
      "2 tokens, 5 observed and a call of 2 exceed the 8 of spec.maxEpisodeTokens",
    ],
    [
      { step: () => ({ observation: [1], done: true, reward: "1" }) },
      'its reward is "1", but must be a finite number',
    ],
    [{}, "in task 1, call 2: its spec allows 2 calls, so this one must end the episode"],
    [{ step: ends, reward: () => NaN }, "its reward is NaN, but must be a finite number"],
    [{ step: ends, info: () => ({}) }, "info.task is missing, but must be a text"],
    [{ step: ends, info: () => INFO }, "info.peeks is missing, but a metric must be a number"],
    [
      { step: ends, info: () => ({ ...INFO, calls: [1] }) },
      "info.calls is a list, but must be a list of texts",
    ],
  ];
  for (const [answers, sentence] of cases) {
    const play = async () => {
      const environment = played(answers);
      await environment.reset(1);
      while (await environment.step([3], 2) !== undefined);
      await environment.ending();
    };
    await assertRejects(play, UserError, sentence);
  }
});

Deno.test("PlayedEnvironment hands a lost episode on as it is", async () => {
  const lost = played({
    step: () => {
      throw new EpisodeLostError("the process died");
    },
  });
  await lost.reset(0);
  await assertRejects(() => lost.step([1], 2), EpisodeLostError, "the process died");
});
