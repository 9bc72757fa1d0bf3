/** Writes a token dump as docs/formats.md describes it, its mask one column late, and prints where that shows. */
import { judgeTokensAt } from "agentrl/report";

/** Four tokens of a prompt, six that the policy drew, two of a tool's answer. */
const sampled = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0];
const mask = [0, ...sampled.slice(0, -1)];

const rows = Array.from({ length: 32 }, (_, n) => ({
  v: 1,
  step: 0,
  sample: `episode ${n}`,
  ids: sampled.map((_, i) => (7 * n + 3 * i) % 50),
  sampled,
  mask,
}));
const path = Deno.makeTempFileSync({ suffix: ".jsonl" });
try {
  Deno.writeTextFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  for (const { id, class: kind, sentence, at } of await judgeTokensAt(path)) {
    if (kind === "violated") {
      console.log(`${id}: ${sentence} See row ${at?.row}, token ${at?.token}.`);
    }
  }
} finally {
  Deno.removeSync(path);
}
