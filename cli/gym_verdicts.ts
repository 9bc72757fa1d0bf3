/** Runs every program of the gym and writes src/gym/verdicts.json, the table that `openGym` reads: `deno task gym-verdicts`. */
import { formatVerdicts } from "../src/gym/gym.ts";
import { makeTasks } from "../src/gym/tasks.ts";
import { judgeTasks } from "../src/sandbox/judge_tasks.ts";

if (import.meta.main) {
  const table = formatVerdicts(await judgeTasks(makeTasks("all")));
  Deno.writeTextFileSync(new URL("../src/gym/verdicts.json", import.meta.url), table);
}
