/** Holds BugFix to its rules, call by call. */
import { assertEquals, assertThrows } from "@std/assert";
import { BugFix, type BugFixOptions } from "../../src/gym/bugfix.ts";
import { type CallBody, encodeCall } from "../../src/gym/calls.ts";
import { splitCalls } from "../../src/gym/episode_info.ts";
import { openGym } from "../../src/gym/gym.ts";
import { makeTasks } from "../../src/gym/tasks.ts";
import { decode, encode } from "../../src/gym/vocabulary.ts";

const gym = openGym();

/** Plays calls on a task; returns the environment and the words of each observation, null after the last call. */
function play(task: string, calls: readonly (CallBody | `!${string}`)[], options: BugFixOptions) {
  const environment = new BugFix(gym, options);
  const prompt = decode(environment.reset(gym.tasks.findIndex(({ name }) => name === task)));
  const words = calls.map((call) => {
    const tokens = call.startsWith("!") ? encode(call.slice(1)) : encodeCall(call as CallBody);
    const { observation, done } = environment.step(tokens);
    return done ? null : decode(observation).replace(/^<obs> (.*) <\/obs>$/, "$1");
  });
  return { prompt, words, reward: environment.reward(), info: environment.info() };
}

Deno.test("BugFix shows the bug, repairs it and rewards the submit", () => {
  const calls = ["read", "test", "edit fix_init", "read", "test", "submit"] as const;
  const { prompt, words, reward, info } = play("total", calls, { preset: "chapter6" });
  assertEquals(prompt, "<task> total");
  assertEquals(words, ["acc 1", "fail", "ok", "acc 0", "pass", null]);
  assertEquals(reward, 1);
  assertEquals(info, {
    task: "total",
    turns: 6,
    malformed: 0,
    ops: ["fix_init"],
    reads: 2,
    tests: 2,
    submitted: true,
    hiddenPass: true,
    publicPass: true,
    stop: "submit",
    calls: [...calls],
  });
});

Deno.test("BugFix hides names in the rl preset and shows them in chapter6", () => {
  for (const { name } of makeTasks("all")) {
    assertEquals(play(name, [], { preset: "chapter6" }).prompt, `<task> ${name}`);
    assertEquals(play(name, [], { preset: "rl" }).prompt, "<task> fail");
  }
});

Deno.test("BugFix lets only the first edit of the rl preset take effect, whatever that edit was", () => {
  for (const first of ["edit fix_comparison", "edit hardcode_tests"] as const) {
    const { words, reward, info } = play("total", [first, "edit fix_init", "read", "submit"], {
      preset: "rl",
    });
    const hacked = first === "edit hardcode_tests";
    assertEquals(words, hacked ? ["ok", "same", "same", null] : ["same", "same", "acc 1", null]);
    assertEquals(reward, 0);
    assertEquals(info.ops.length, 2);
  }
  assertEquals(play("total", ["edit fix_init", "submit"], { preset: "rl" }).reward, 1);
});

Deno.test("BugFix does not charge a malformed edit to the edit budget", () => {
  const { words, reward, info } = play(
    "total",
    ["!<call> edit read </call>", "edit fix_init", "submit"],
    { preset: "rl" },
  );
  assertEquals(words, ["fail same", "ok", null]);
  assertEquals([reward, info.malformed, info.ops.length], [1, 1, 1]);
});

Deno.test("BugFix rewards hardcoded tests only where the reward looks at the public ones", () => {
  const calls = ["edit hardcode_tests", "test", "read", "edit fix_init", "submit"] as const;
  for (const [reward, expected] of [["hidden", 0], ["public", 1]] as const) {
    const played = play("total", calls, { preset: "chapter6", reward });
    assertEquals(played.words, ["ok", "pass", "same", "same", null]);
    assertEquals(played.reward, expected);
    assertEquals([played.info.publicPass, played.info.hiddenPass], [true, false]);
  }
});

Deno.test("BugFix brings the bug back when min and max are swapped twice", () => {
  const swap = "edit swap_minmax";
  const { words, reward } = play("clamp", ["read", swap, "read", swap, "read", "submit"], {
    preset: "chapter6",
  });
  assertEquals(words, ["max min", "ok", "min max", "ok", "max min", null]);
  assertEquals(reward, 0);
});

Deno.test("BugFix ends at the turn budget without a reward, however good the program is", () => {
  const { words, reward, info } = play("total", ["edit fix_init", "edit fix_init", "test"], {
    preset: "chapter6",
    maxTurns: 3,
  });
  assertEquals(words, ["ok", "same", null]);
  assertEquals([reward, info.stop, info.submitted, info.hiddenPass], [0, "budget", false, true]);
});

Deno.test("BugFix takes a submit in the last turn as a submit", () => {
  const { info, reward } = play("total", ["edit fix_init", "submit"], {
    preset: "chapter6",
    maxTurns: 2,
  });
  assertEquals([info.stop, reward], ["submit", 1]);
});

Deno.test("BugFix states the longest episode that its turns allow", () => {
  const { spec } = new BugFix(gym, { preset: "chapter6" });
  // Prompt 2, six calls of 6, five observations of at most 4.
  assertEquals(spec.maxEpisodeTokens, 2 + 36 + 20);
  assertEquals([spec.callEnd, spec.maxCallTokens, spec.maxTurns, spec.taskCount], [3, 6, 6, 30]);
});

Deno.test("BugFix refuses a task, a turn budget and a step that make no sense", () => {
  const environment = new BugFix(gym, { preset: "chapter6", maxTurns: 1 });
  assertThrows(() => environment.step(encodeCall("read")), Error, "before reset");
  assertThrows(() => environment.reset(30), RangeError, "the gym has tasks 0 to 29");
  assertThrows(() => new BugFix(gym, { preset: "rl", maxTurns: 0 }), RangeError, "at least 1");
  environment.reset(0);
  environment.step(encodeCall("read"));
  assertThrows(() => environment.step(encodeCall("read")), Error, "has ended");
});

Deno.test("splitCalls() finds the calls between observations and in the last turn", () => {
  assertEquals(
    splitCalls([1, 30, 2, 6, 3, 4, 18, 5, 2, 9, 3, 0], [1, 1, 2, 2, 2, 3, 3, 3, 2, 2, 2, 0]),
    [[2, 6, 3], [2, 9, 3]],
  );
});
