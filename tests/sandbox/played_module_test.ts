/** Holds the side of the protocol that plays a module to it, in this program: what it answers to each message, and when. */
import { assertEquals } from "@std/assert";
import type { StepResult } from "../../src/gym/environment.ts";
import { EpisodeLostError } from "../../src/gym/environment.ts";
import { playedModule } from "../../src/sandbox/played_module.ts";

/** What a module answers to a step, by its task. */
const RESULTS: readonly (() => StepResult | Promise<StepResult>)[] = [
  () => ({ observation: [1], done: false, reward: 0.5 }),
  () => ({ observation: [], done: true }),
  () => Promise.resolve({ observation: [], done: true, reward: -Infinity }),
  () => Promise.reject(new EpisodeLostError("away")),
  () => new Promise((resolve) => setTimeout(() => resolve({ observation: [0], done: false }), 5)),
];

function play(demonstration?: (task: number) => number[][]) {
  const said: unknown[] = [];
  let made = 0;
  const answer = playedModule({
    load: () =>
      Promise.resolve({
        name: "five",
        words: ["a", "b"],
        tasks: { train: 5, heldout: 0 },
        ...(demonstration && { demonstration }),
        create: () => {
          let task = 0;
          const number = made++;
          return {
            spec: {
              callEnd: 1,
              maxCallTokens: 1,
              maxTurns: 1,
              maxEpisodeTokens: 2,
              taskCount: 5,
            },
            reset: (next: number) => [task = next],
            step: () => RESULTS[task]!(),
            reward: () => 0.25,
            info: () => ({ task: `made ${number}`, turns: 1, malformed: 0, stop: null, calls: [] }),
          };
        },
      }),
    say: (line) => said.push(JSON.parse(line)),
  });
  const ask = async (message: object) => {
    await answer(JSON.stringify(message));
    return said.splice(0);
  };
  return { ask, said };
}

Deno.test("a played module says hello, and answers each slot in a line of its own, the quick ones first", async () => {
  const { ask } = play();
  const spec = { callEnd: 1, maxCallTokens: 1, maxTurns: 1, maxEpisodeTokens: 2, taskCount: 5 };
  assertEquals(await ask({ id: 0, type: "hello", version: 1 }), [{
    id: 0,
    version: 1,
    name: "five",
    words: ["a", "b"],
    tasks: { train: 5, heldout: 0 },
    metrics: [],
    spec,
    demonstrations: false,
  }]);
  const slots = [4, 3, 2, 1, 0];
  assertEquals(
    await ask({ id: 1, type: "reset", ask: slots.map((slot) => ({ slot, task: slot })) }),
    slots.map((slot) => ({ id: 1, answers: [{ observation: [slot], slot }] })),
  );
  const info = { turns: 1, malformed: 0, stop: null, calls: [] };
  const end = { observation: [], done: true };
  assertEquals(
    await ask({ id: 2, type: "step", ask: slots.map((slot) => ({ slot, call: [1] })) }),
    [
      { lost: "away", slot: 3 },
      { ...end, reward: "-Infinity", info: { ...info, task: "made 2" }, slot: 2 },
      { ...end, reward: 0.25, info: { ...info, task: "made 3" }, slot: 1 },
      { observation: [1], done: false, reward: 0.5, slot: 0 },
      { observation: [0], done: false, slot: 4 },
    ].map((answer) => ({ id: 2, answers: [answer] })),
  );
  // The environment of a slot is made once.
  await ask({ id: 3, type: "reset", ask: [{ slot: 1, task: 1 }] });
  assertEquals(await ask({ id: 4, type: "step", ask: [{ slot: 1, call: [0] }] }), [
    { id: 4, answers: [{ ...end, reward: 0.25, info: { ...info, task: "made 3" }, slot: 1 }] },
  ]);
});

Deno.test("a played module shows demonstrations where it has some, and refuses what was not begun", async () => {
  const { ask } = play((task) => [[task, 1]]);
  const [hello] = await ask({ id: 0, type: "hello", version: 1 });
  assertEquals((hello as { demonstrations: boolean }).demonstrations, true);
  assertEquals(await ask({ id: 1, type: "demonstrate", ask: [{ slot: 9, task: 3 }] }), [
    { id: 1, answers: [{ calls: [[3, 1]], slot: 9 }] },
  ]);
  assertEquals(await ask({ id: 2, type: "step", ask: [{ slot: 9, call: [1] }] }), [
    { id: 2, answers: [{ error: "no episode has begun in this slot", slot: 9 }] },
  ]);
});
