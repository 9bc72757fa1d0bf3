/** Tests of src/rollout/evaluate.ts and of the transcripts of what it plays. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { BUGFIX_RULES, bugFixGoal } from "../../src/rollout/bugfix_source.ts";
import { evaluateAgent, spreadTasks } from "../../src/rollout/evaluate.ts";
import { formatTranscript } from "../../src/rollout/transcript.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { compiledGym, goldenAgent } from "./agent.ts";

Deno.test("spreadTasks() deals episodes to the tasks of a split in turn", () => {
  const { tasks } = BUGFIX_RULES;
  assertEquals(spreadTasks(tasks, { split: "train", episodes: 21 }), [...Array(20).keys(), 0]);
  assertEquals(spreadTasks(tasks, { split: "heldout", episodes: 12 }), [
    20,
    21,
    22,
    23,
    24,
    25,
    26,
    27,
    28,
    29,
    20,
    21,
  ]);
});

gpuTest(
  "evaluateAgent() finds no gap, and a longer evaluation begins with a shorter one",
  async () => {
    const { commands, parameters } = await goldenAgent();
    const source = bugFixGoal(compiledGym("chapter6"));
    const evaluate = (episodes: number, seed: number) =>
      evaluateAgent(commands, parameters, {
        source,
        split: "heldout",
        episodes,
        seed,
        temperature: 2,
      });
    const { trajectories, logpGapMax } = await evaluate(30, 1);
    assertEquals(logpGapMax, 0);
    assertEquals(trajectories.map(({ info }) => info.task).slice(0, 2), ["energy", "score"]);
    assertEquals((await evaluate(7, 1)).trajectories, trajectories.slice(0, 7));
    assert((await evaluate(7, 2)).trajectories[0].ids.join() !== trajectories[0].ids.join());
    await assertRejects(() => evaluate(0, 1), RangeError, "the request holds no episode");

    const lines = trajectories.flatMap((episode, i) => formatTranscript(episode, `episode ${i}`));
    assertEquals(lines.find((line) => line.length > 80), undefined);
    const [title, prompt, agent] = lines;
    assert(/^episode 0: reward [01], stop (submit|budget), turns \d$/.test(title), title);
    assertEquals(prompt, "  prompt  <task> energy");
    assert(agent.startsWith("  agent   "), agent);
  },
);
