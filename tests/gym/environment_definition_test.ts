/** Tests of what an environment must tell of itself: each mistake ends in one sentence that names it. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { requireDefinition, requireSpec } from "../../src/gym/environment_definition.ts";

const GOOD = {
  name: "two_words",
  words: ["<end>", "go"],
  tasks: { train: 3, heldout: 1 },
  metrics: [{ name: "peeks", meaning: "peeks of an episode", healthy: "higher" }],
  create: () => ({}),
};
const SPEC = { callEnd: 0, maxCallTokens: 2, maxTurns: 3, maxEpisodeTokens: 9, taskCount: 4 };

Deno.test("requireDefinition() hands a whole definition on as it is", () => {
  assertEquals(requireDefinition(GOOD, { source: "env.ts" }) as unknown, GOOD);
});

Deno.test("requireDefinition() names what is missing or wrong in one sentence", () => {
  const metric = GOOD.metrics[0];
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, "its default export is missing, but must be an object with name, words, tasks"],
    [() => 0, "its default export is a function, but must be an object with name, words, tasks"],
    [{ ...GOOD, name: "Three Doors" }, 'name is "Three Doors", but must be 1 to 64 lower-case'],
    [{ ...GOOD, name: "bugfix" }, 'its name is "bugfix", that of the gym that ships'],
    [{ ...GOOD, words: "a b" }, 'words is "a b", but must be a list of texts'],
    [{ ...GOOD, words: ["a"] }, "the number of words is 1, but must be an integer from 2 to"],
    [{ ...GOOD, words: ["a", "b c"] }, 'word 1 is "b c", but must be a text without blanks'],
    [{ ...GOOD, words: ["a", "b", "a"] }, 'words 0 and 2 are both "a"'],
    [{ ...GOOD, tasks: 4 }, "tasks is 4, but must be such as { train: 20, heldout: 10 }"],
    [
      { ...GOOD, tasks: { train: 0, heldout: 0 } },
      "tasks.train is 0, but must be an integer from 1",
    ],
    [{ ...GOOD, tasks: { train: 1 } }, "tasks.heldout is missing, but must be an integer from 0"],
    [{ ...GOOD, metrics: [{ ...metric, name: "a b" }] }, 'the name of metric 0 is "a b"'],
    [{ ...GOOD, metrics: [{ ...metric, name: "lost" }] }, 'a metric is called "lost"'],
    [{ ...GOOD, metrics: [metric, metric] }, 'two metrics are called "peeks"'],
    [{ ...GOOD, metrics: [{ ...metric, healthy: "up" }] }, 'healthy of metric peeks is "up"'],
    [{ ...GOOD, metrics: [{ ...metric, meaning: 3 }] }, "the meaning of metric peeks is 3"],
    [{ ...GOOD, create: undefined }, "create is missing, but must be a function"],
    [{ ...GOOD, demonstration: [] }, "demonstration is a list, but must be a function"],
  ];
  for (const [value, words] of cases) {
    assertThrows(
      () => requireDefinition(value, { source: "env.ts" }),
      UserError,
      `Cannot use the environment env.ts: ${words}`,
    );
  }
});

Deno.test("requireSpec() refuses what the kernels cannot play, and what contradicts the definition", () => {
  assertEquals(requireSpec(SPEC, GOOD), SPEC);
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, "spec is missing, but must be an object"],
    [{ ...SPEC, callEnd: 2 }, "spec.callEnd is 2, but must be the id of one of its 2 words"],
    [
      { ...SPEC, maxCallTokens: 0 },
      "spec.maxCallTokens is 0, but must be an integer from 1 to 1024",
    ],
    [{ ...SPEC, maxTurns: 1.5 }, "spec.maxTurns is 1.5, but must be an integer from 1 to 1024"],
    [{ ...SPEC, maxEpisodeTokens: 9000 }, "spec.maxEpisodeTokens is 9000, but must be an integer"],
    [{ ...SPEC, maxEpisodeTokens: 2 }, "which leaves no room for a prompt and a call of 2 tokens"],
    [
      { ...SPEC, taskCount: 3 },
      "spec.taskCount is 3, but tasks.train and tasks.heldout add up to 4",
    ],
  ];
  for (const [spec, words] of cases) {
    assertThrows(() => requireSpec(spec, GOOD), UserError, words);
  }
});
