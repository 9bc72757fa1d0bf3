/** Holds environments of other processes to their protocol: what is asked, what is refused in which words, what a crash loses. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { EpisodeLostError } from "../../src/gym/environment.ts";
import { PlayedEnvironment } from "../../src/rollout/played_environment.ts";
import { EnvironmentPool, type PoolOptions } from "../../src/sandbox/environment_pool.ts";
import { withFolder } from "../files/with_folder.ts";
import { answer, HELLO, script } from "./scripted_process.ts";

const hello = JSON.stringify(HELLO);
const PROMPT = { observation: [0] };
const INFO = { malformed: 0, stop: "over" };
const END = { observation: [], done: true, reward: 0.5, info: INFO };

function open(words: readonly string[], options: Partial<PoolOptions> = {}) {
  return EnvironmentPool.open({
    source: "env.sh",
    words,
    processes: 1,
    onRemark: () => {},
    ...options,
  });
}

async function environmentOf({ definition }: EnvironmentPool) {
  const { name, words } = definition;
  return new PlayedEnvironment(await definition.create(), { name, vocabSize: words.length });
}

/** What is said about a process that answers so, when an episode of task 3 is begun in it and makes a call. */
async function sentenceOf(pieces: readonly string[], options: Partial<PoolOptions> = {}) {
  const error = await assertRejects(async () => {
    await using pool = await open(script(...pieces), options);
    const environment = await environmentOf(pool);
    await environment.reset(3);
    await environment.step([1], 2);
    await environment.ending();
  }, Error);
  assert(error instanceof UserError || error instanceof EpisodeLostError, `${error}`);
  return error.message;
}

Deno.test("a pool asks all slots of a moment in one message for each process, and matches answers in any order", () =>
  withFolder(async (folder) => {
    const record = 'printf "%s\\n" "$line" >>"$0"';
    const [shell = "", flag = "", text = ""] = script(
      hello,
      `${record}; printf '%s\\n' '${
        answer(1, { slot: 2, observation: [2] }, { slot: 1, observation: [1] })
      }' '' '${answer(1, { ...PROMPT })}'`,
      `${record}; printf '%s\\r\\n' '${answer(2, { ...END, slot: 1 }, END)}'`,
      record,
    );
    {
      await using pool = await open([shell, flag, text, `${folder}/heard`]);
      const { definition } = pool;
      const environments = await Promise.all([0, 1, 2].map(() => definition.create()));
      assertEquals(environments[0]?.spec, { ...HELLO.spec, taskCount: 4 });
      assertEquals(await Promise.all(environments.map((one, task) => one.reset(task))), [
        [0],
        [1],
        [2],
      ]);
      const ends = environments.slice(0, 2).map((one, i) => one.step([1 + i]));
      assertEquals((await Promise.all(ends)).map(({ done, reward }) => [done, reward]), [
        [true, 0.5],
        [true, 0.5],
      ]);
      assertEquals(await environments[1]?.info(), {
        ...INFO,
        task: "task 1",
        turns: 1,
        calls: ["no"],
      });
      assertEquals(await environments[1]?.reward(), 0.5);
    }
    assertEquals(
      Deno.readTextFileSync(`${folder}/heard`).trim().split("\n").map((x) => JSON.parse(x)),
      [
        { id: 1, type: "reset", ask: [0, 1, 2].map((slot) => ({ slot, task: slot })) },
        { id: 2, type: "step", ask: [{ slot: 0, call: [1] }, { slot: 1, call: [2] }] },
        { id: 3, type: "close" },
      ],
    );
  }));

Deno.test("what a process may not answer is refused in one sentence with task and call", async () => {
  const reset = answer(1, PROMPT);
  const step = (fields: object) => [hello, reset, answer(2, { ...END, ...fields })];
  const cases: readonly (readonly [readonly string[], string])[] = [
    [
      [hello, "echo debug: here"],
      'failed in task 3, reset: its process wrote to its standard output what is no answer, "debug: here"; whatever else it prints must go to standard error',
    ],
    [[hello, "echo 5"], 'what is no answer, "5"'],
    [[hello, "echo '[1, \"é'"], "what is no answer"],
    [[hello, '{"id": 1}'], "in task 3, reset: its process answered message 1 without answers"],
    [
      [hello, answer(7, PROMPT)],
      "its process answered message 7, which does not wait for an answer",
    ],
    [
      [hello, answer(1, { ...PROMPT, slot: 5 })],
      "answered message 1 for slot 5, which does not wait",
    ],
    [
      [hello, `${"printf '%s\\n' "}'${reset}' '${reset}'`],
      "in task 3, call 1: its process answered message 1, which does not wait for an answer",
    ],
    [
      [hello, answer(1, PROMPT, PROMPT)],
      "in task 3, call 1: its process answered message 1 for slot 0, which does not wait",
    ],
    [[hello, '{"id": 1, "error": "no such task"}'], "failed in task 3, reset: no such task"],
    [[hello, answer(1, { error: "no such task" })], "failed in task 3, reset: no such task"],
    [
      [hello, answer(1, {})],
      "in task 3, reset: its answer is wrong: observation is missing, but must be a list",
    ],
    [[hello, answer(1, { observation: ["0"] })], 'observation.0 is "0", but must be'],
    [
      [hello, answer(1, { observation: [3] })],
      "is wrong in task 3, reset: token 0 of its prompt is 3, but ids run from 0 to 2",
    ],
    [
      step({ reward: "1" }),
      'in task 3, call 1: its answer is wrong: reward is "1", but must be a finite number',
    ],
    [
      [hello, reset, answer(2, END).replace("0.5", "NaN")],
      'reward is "NaN", but must be a finite number',
    ],
    [step({ done: "no" }), 'done is "no", but must be a boolean'],
    [
      step({ reward: null }),
      "in task 3, call 1: the episode has ended, and none of its answers has a reward",
    ],
    [step({ info: undefined }), "its answer to the call that ended the episode has no info"],
    [step({ info: { stop: "over" } }), "info.malformed is missing, but must be"],
    [
      step({ done: false, observation: [0, 0, 0, 0] }),
      "2 tokens, 4 observed and a call of 1 exceed the 6",
    ],
  ];
  for (const [pieces, expected] of cases) {
    const sentence = await sentenceOf(pieces);
    assertStringIncludes(sentence, expected);
    assert(sentence.startsWith("The environment canned "), sentence);
  }
});

Deno.test("an observation of a million tokens is refused for its length", async () => {
  const million = 'printf \'{"id":2,"answers":[{"slot":0,"done":false,"observation":[0\'; ' +
    "yes ,0 | head -n 1000000 | tr -d '\\n'; echo ']}]}'";
  assertStringIncludes(
    await sentenceOf([hello, answer(1, PROMPT), million]),
    "is wrong in task 3, call 1: 2 tokens, 1000001 observed and a call of 1 exceed the 6",
  );
});

Deno.test("a process that cannot be used as an environment is refused before anything is played", async () => {
  const wrong = (fields: object) => JSON.stringify({ ...HELLO, ...fields });
  const cases: readonly (readonly [readonly string[], string])[] = [
    [script("exit 3"), "Cannot use the environment env.sh: its process ended with exit code 3"],
    [
      script("echo 'no module' >&2; exit 1"),
      'exit code 1; the last line of its standard error is "no module"',
    ],
    [script("kill -9 $$"), "its process was ended by SIGKILL"],
    [
      script("echo Hello"),
      'Cannot use the environment env.sh: its process wrote to its standard output what is no answer, "Hello"',
    ],
    [script(wrong({ version: 2 })), "speaks version 2 of the protocol, and this program version 1"],
    [
      script(wrong({ words: 3 })),
      "Cannot use the environment env.sh: its hello is wrong: words is 3, but must be a list",
    ],
    [script(wrong({ name: "Bad Name" })), 'Cannot use the environment env.sh: name is "Bad Name"'],
    [
      script(wrong({ spec: { ...HELLO.spec, callEnd: 3 } })),
      "spec.callEnd is 3, but must be the id of one of its 3 words",
    ],
    [
      ["/nowhere/pyhton3", "my env.py"],
      "Cannot start the environment /nowhere/pyhton3 'my env.py': there is no program \"/nowhere/pyhton3\"",
    ],
    [["/tmp"], 'Cannot start the environment /tmp: "/tmp" may not be run'],
  ];
  for (const [words, expected] of cases) {
    const error = await assertRejects(() => open(words), UserError);
    assertStringIncludes(error.message, expected);
  }
});

/** A program that answers every message, and ends where a message matches. */
function answering(crash: string): string[] {
  const slots = (type: string, fields: string) =>
    `*'"${type}"'*) printf '%s\\n' "$line" | sed -E 's/"type":"${type}","ask"/"answers"/; ` +
    `s/"(task|call)":[^}]*/${fields}/g' ;;`;
  const end = JSON.stringify(END).slice(1, -1);
  return [
    "sh",
    "-c",
    `while read -r line; do case $line in ${crash}) echo oops >&2; exit 1 ;; *hello*) echo '${hello}' ;; ${
      slots("reset", '"observation":[0]')
    } ${slots("step", end)} esac; done`,
  ];
}

Deno.test("a crash loses the episode that causes it; the others are played again in the next process", async () => {
  const said: string[] = [];
  await using pool = await open(answering(`*'"slot":1,"call"'*`), {
    onRemark: (piece) => said.push(piece),
  });
  const environments = await Promise.all([0, 1, 2, 3].map(() => environmentOf(pool)));
  await Promise.all(environments.map((one, task) => one.reset(task)));
  // Slot 3 waits for nothing while the process ends.
  const steps = environments.slice(0, 3).map(async (one) => {
    try {
      assertEquals(await one.step([1], 2), undefined);
      return (await one.ending()).reward;
    } catch (error) {
      assert(error instanceof EpisodeLostError, `${error}`);
      return error.message;
    }
  });
  const lost = 'its process ended with exit code 1; the last line of its standard error is "oops"';
  assertEquals(await Promise.all(steps), [0.5, lost, 0.5]);
  assertEquals(said.join(""), "oops\noops\n");
  assertEquals(await environments[3]?.step([1], 2), undefined);
  assertEquals(await environments[1]?.reset(2), [0]);
});

Deno.test("a process that ends once for no reason loses the first episode that it had not answered", () =>
  withFolder(async (folder) => {
    const [shell = "", flag = "", text = ""] = answering(
      `*'"call"'*) [ -e "$0" ] && continue; : >"$0"; exit 1 ;; x`,
    );
    // The process that goes on reads the same line as a step.
    const program = text.replace(
      '[ -e "$0" ] && continue; : >"$0"; exit 1',
      ': >"$0.seen"; exit 1',
    );
    const guarded = `if [ -e "$0.seen" ]; then ${answering("never")[2]}; else ${program}; fi`;
    await using pool = await open([shell, flag, guarded, `${folder}/crash`]);
    const environments = await Promise.all([0, 1].map(() => environmentOf(pool)));
    await Promise.all(environments.map((one) => one.reset(0)));
    const [first, second] = await Promise.allSettled(environments.map((one) => one.step([1], 2)));
    assert(first?.status === "rejected" && first.reason instanceof EpisodeLostError);
    assertEquals(second, { status: "fulfilled", value: undefined });
  }));

Deno.test("too many crashes in a row end the work, and what loads a module ends it with the first", async () => {
  const pieces = [hello, "echo 'no memory' >&2; exit 1"];
  await using pool = await open(script(...pieces), { crashesInRow: 3 });
  const environment = await environmentOf(pool);
  for (let i = 0; i < 2; i++) await assertRejects(() => environment.reset(0), EpisodeLostError);
  await assertRejects(
    () => environment.reset(2),
    UserError,
    "The environment canned failed in task 2, reset: 3 times in a row no episode was finished before its process ended with " +
      'exit code 1; the last line of its standard error is "no memory"',
  );
  assertStringIncludes(
    await sentenceOf(pieces, { crashesInRow: 1 }),
    "failed in task 3, reset: its process ended with exit code 1",
  );
});

Deno.test("a hang is ended after its time, in a reset and in a step; each line of an answer restarts the clock", async () => {
  const options = { timeoutMs: 400, crashesInRow: 1 };
  assertStringIncludes(
    await sentenceOf([hello, "exec sleep 100"], options),
    "failed in task 3, reset: its process gave no answer within 0.4 s",
  );
  assertStringIncludes(
    await sentenceOf([hello, answer(1, PROMPT), "exec sleep 100"], options),
    "failed in task 3, call 1: its process gave no answer within 0.4 s",
  );
  const slow = [0, 1, 2].map((slot) =>
    `sleep 0.5; printf '%s\\n' '${answer(1, { ...PROMPT, slot })}'`
  );
  await using pool = await open(script(hello, slow.join("\n")), { ...options, timeoutMs: 1200 });
  const environments = await Promise.all([0, 1, 2].map(() => environmentOf(pool)));
  const prompts = await Promise.all(environments.map((environment) => environment.reset(0)));
  assertEquals(prompts, [[0], [0], [0]]);
});

Deno.test("an episode that the environment itself gives up is lost alone, and its process stays", async () => {
  const lost = answer(1, { lost: "the server is away" });
  await using pool = await open(script(hello, lost, answer(2, PROMPT)), { crashesInRow: 1 });
  const environment = await environmentOf(pool);
  await assertRejects(() => environment.reset(0), EpisodeLostError, "the server is away");
  assertEquals(await environment.reset(0), [0]);
});
