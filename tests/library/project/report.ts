/** Keeps a journal of a training of its own and writes a report about it. */
import { Journal } from "agentrl";
import { reportOn } from "agentrl/report";

const [folder = "."] = Deno.args;
{
  using journal = new Journal(`${folder}/metrics.jsonl`);
  for (let step = 0; step < 8; step++) {
    journal.append({ step, reward: step / 8, entropy: 2 - step / 8 });
  }
}
console.log(await reportOn([`${folder}/metrics.jsonl`], `${folder}/report.html`));
