/** Holds the shipped verdicts of the gym to real runs of all its programs. */
import { assert, assertEquals } from "@std/assert";
import { formatVerdicts, openGym } from "../../src/gym/gym.ts";
import { makeTasks } from "../../src/gym/tasks.ts";
import { judgeTasks } from "../../src/sandbox/judge_tasks.ts";

// Needs seconds because it starts a process for each of the 90 programs.
Deno.test("verdicts.json holds what the tests of every program say when they run", async () => {
  const judged = await judgeTasks(makeTasks("all"));
  const gym = openGym();
  assertEquals(gym, judged);
  assertEquals(gym.verdicts.reduce((count, sources) => count + sources.size, 0), 90);
  const table = new URL("../../src/gym/verdicts.json", import.meta.url);
  assertEquals(formatVerdicts(judged), Deno.readTextFileSync(table));
});

Deno.test("judgeTasks() finds other verdicts when the tests of a task are other ones", async () => {
  const [total] = makeTasks("train");
  assert(total !== undefined);
  const wrong = { ...total, hiddenTests: [{ args: [[1]], expected: 2 }] };
  const { verdicts } = await judgeTasks([wrong]);
  assertEquals(Array.from(verdicts[0].values(), ({ hiddenPass }) => hiddenPass), [
    true,
    false,
    false,
  ]);
});

Deno.test({
  name: "openGym() needs no permission and starts nothing",
  permissions: "none",
  fn: () => {
    const start = performance.now();
    openGym();
    // 1 ms when quiet, where running the programs took 150 ms and more.
    assert(performance.now() - start < 100);
  },
});
