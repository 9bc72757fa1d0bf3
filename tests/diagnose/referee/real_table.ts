/**
 * Plants faults into dumps of small random Llama, Qwen2 and Qwen3, and counts what the command says of them.
 *
 * deno task referee-plants [FIRST SEED [SEEDS [PLANT …]]]: the table of docs/referee.md.
 */
import { markdownTable } from "../../../src/core/markdown_table.ts";
import { Commands } from "../../../src/gpu/commands.ts";
import { testGpu } from "../../gpu/gpu_test_device.ts";
import { judgeReal, REAL_PLANTS } from "./real_plants.ts";

const commands = new Commands(await testGpu());
const [first = "100", seeds = "10", ...asked] = Deno.args;
const rows: string[][] = [];
for (const name of asked.length > 0 ? asked : Object.keys(REAL_PLANTS)) {
  let named = 0, wrong = 0, explained = 0, misexplained = 0;
  const gaps: number[][] = [];
  for (let seed = Number(first); seed < Number(first) + Number(seeds); seed++) {
    const folder = Deno.makeTempDirSync({ prefix: "agentrl-plants-" });
    try {
      const verdict = await judgeReal(name, seed, { folder, commands });
      named += Number(verdict.isNamed);
      wrong += Number(verdict.isWrong);
      explained += Number(verdict.isExplained);
      misexplained += Number(verdict.isMisexplained);
      gaps.push(verdict.document.sides.map(({ meanNats }) => meanNats));
      if (!verdict.isNamed || !verdict.isExplained) {
        console.error(`${name}, seed ${seed}: ${verdict.named} | ${verdict.found}`);
        console.error(`  ${verdict.document.verdict}`);
      }
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
  }
  const mean = (side: number) => gaps.reduce((sum, one) => sum + one[side]!, 0) / gaps.length;
  rows.push([
    name,
    `${named} of ${seeds}`,
    String(wrong),
    `${explained} of ${seeds}`,
    String(misexplained),
    gaps[0]!.map((_, side) => mean(side).toPrecision(2)).join(", "),
  ]);
}
const header = ["planted", "named", "wrongly", "explained", "wrongly", "gap of each side, nats"];
console.log(markdownTable(header, rows).join("\n"));
Deno.exit(0);
