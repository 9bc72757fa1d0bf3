/**
 * Measures `agentrl watch` on a log of a million rows: until the page has it, and again after each appended row.
 * Usage: deno run -A tests/watch/measure_long_log.ts
 */
const LAUNCHER = new URL("../../cli/agentrl", import.meta.url).pathname;
const ROWS = 1_000_000;
const SPIKE = 777_777;

/** A row of a TRL log, 220 bytes; pseudo-random, so that curves are rough. */
function row(step: number): string {
  const noise = (step * 2654435761 % 4294967296) / 4294967296;
  return `${
    JSON.stringify({
      step,
      reward: 0.2 + 0.6 * step / ROWS + noise / 10,
      reward_std: 0.3 + noise / 10,
      "completions/mean_length": 200 + 20 * noise,
      "completions/clipped_ratio": 0.02,
      entropy: 0.6 - 0.3 * step / ROWS + noise / 50,
      grad_norm: step === SPIKE ? 90 : 0.3 + noise / 10,
      learning_rate: 1e-6,
      loss: noise / 100,
      kl: noise / 200,
    })
  }\n`;
}

const folder = Deno.makeTempDirSync();
const path = `${folder}/log.jsonl`;
for (let i = 0; i < ROWS; i += 10_000) {
  const text = Array.from({ length: 10_000 }, (_, k) => row(i + k)).join("");
  Deno.writeTextFileSync(path, text, { append: true });
}
// The launcher becomes the command, so that its process is this one.
const child = new Deno.Command(LAUNCHER, {
  args: ["watch", path, "--json"],
  stdout: "piped",
  stderr: "inherit",
}).spawn();
const decoder = new TextDecoder();
const lines = child.stdout.getReader();
const { url } = JSON.parse(decoder.decode((await lines.read()).value));
const events = (await fetch(`${url}events`)).body?.getReader();
let before = { seconds: 0, startMs: performance.now() };

/** Waits until an event says a step and is whole, and prints what it took. */
async function until(step: number, what: string): Promise<void> {
  let text = "";
  while (!(text.includes(`"step ${step.toLocaleString("en-US")},`) && text.endsWith("\n\n"))) {
    const { value, done } = await events?.read() ?? { done: true };
    if (done) throw new Error("the page ended");
    text += decoder.decode(value, { stream: true });
  }
  const [, peak] = /VmHWM:\s*(\d+)/.exec(Deno.readTextFileSync(`/proc/${child.pid}/status`)) ?? [];
  const ticks = Deno.readTextFileSync(`/proc/${child.pid}/stat`).split(" ").slice(13, 15);
  const seconds = ticks.reduce((sum, count) => sum + Number(count) / 100, 0);
  const endMs = performance.now();
  const hasSpike = text.includes(`,${Number(SPIKE.toPrecision(5))},`);
  console.log(
    `${what}: ${(seconds - before.seconds).toFixed(1)} processor seconds, ` +
      `${((endMs - before.startMs) / 1000).toFixed(0)} s passed, peak ${
        Math.round(Number(peak) / 1024)
      } MiB, ${Math.round(text.length / 1000)} KB sent${hasSpike ? ", the spike among them" : ""}`,
  );
  before = { seconds, startMs: performance.now() };
}

await until(ROWS - 1, "first page");
for (let i = 0; i < 2; i++) {
  Deno.writeTextFileSync(path, row(ROWS + i), { append: true });
  await until(ROWS + i, "a row appended");
}
child.kill("SIGINT");
await child.status;
Deno.removeSync(folder, { recursive: true });
