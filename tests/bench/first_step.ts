/**
 * `deno task first-step [STARTS]`: milliseconds from the start of `agentrl train --no-gate --base FILE` until its first step is on
 * disk, checks before it included. The first start warms everything up and is not counted.
 */
import { median, smallest } from "../../src/core/statistics.ts";

const [count = "7"] = Deno.args;
const agentrl = new URL("../../cli/agentrl", import.meta.url).pathname;
const folder = Deno.makeTempDirSync({ prefix: "agentrl_first_step_" });
const base = `${folder}/base.safetensors`;

function start(args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(agentrl, { args: [...args], stdout: "null", stderr: "null" }).spawn();
}

async function firstStepMs(out: string): Promise<number> {
  const startMs = performance.now();
  const process = start(["train", "--no-gate", "--base", base, "--out", out, "--steps", "1"]);
  let endMs = NaN;
  let isRunning = true;
  const status = process.status.finally(() => isRunning = false);
  while (isRunning && Number.isNaN(endMs)) {
    await new Promise((resolve) => setTimeout(resolve, 2));
    try {
      if (Deno.statSync(`${out}/metrics.jsonl`).size > 0) endMs = performance.now();
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  const { code } = await status;
  if (code !== 0) throw new Error(`train ended with ${code}`);
  return endMs - startMs;
}

try {
  const { code } = await start(["base", "--kind", "plain", "--out", base]).status;
  if (code !== 0) throw new Error(`base ended with ${code}`);
  const times: number[] = [];
  for (let i = 0; i <= Number(count); i++) {
    const ms = await firstStepMs(`${folder}/run-${i}`);
    if (i > 0) times.push(ms);
  }
  console.log(
    `first step on disk after ${median(times).toFixed(0)} ms (median of ${times.length}, least ` +
      `${smallest(times).toFixed(0)})`,
  );
} finally {
  Deno.removeSync(folder, { recursive: true });
}
