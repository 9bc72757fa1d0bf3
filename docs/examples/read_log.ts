/** Reads another trainer's log and prints what speaks against the run, and what to do: `read_log.ts PATH`. */
import { judgeLogAt } from "agentrl/report";

const [path = "docs/examples/trl_run"] = Deno.args;
const findings = await judgeLogAt(path, { updatesPerBatch: 1 });
for (const { id, class: kind, sentence, next } of findings) {
  if (kind !== "violated" && kind !== "suspect") continue;
  console.log(`${kind}: ${id}: ${sentence}`);
  if (next !== undefined) console.log(`  next: ${next}`);
}
