/**
 * Times scoring under a model, its dispatches, and memory: the first pass compiles, the second does not.
 *
 * deno run -A tests/model/random_decoder.ts FOLDER qwen2.5-0.5b
 * deno run -A tests/model/decoder_speed.ts FOLDER/qwen2.5-0.5b 64 [f32 | bf16]
 */
import process from "node:process";
import { loadDecoder, openDecoderFiles } from "../../src/files/load_decoder.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { scoreSequences } from "../../src/model/score_sequences.ts";

const [folder = "", tokens = "64", storage] = Deno.args;
const gpu = await openGpu();
const commands = new Commands(gpu);
const files = openDecoderFiles(folder);
const print = (line: string) => Deno.stdout.write(new TextEncoder().encode(`${line}\n`));

async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now(), before = process.cpuUsage();
  const { dispatches } = gpu.counters;
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  const wall = ((performance.now() - startMs) / 1000).toFixed(2);
  const cpu = ((user + system) / 1e6).toFixed(2);
  await print(
    `${name}: ${wall} s, ${cpu} s of processors, ${
      gpu.counters.dispatches - dispatches
    } dispatches`,
  );
  return result;
}

const { weights } = await timed(
  "load",
  () =>
    loadDecoder(commands, files, {
      storage: storage === "f32" || storage === "bf16" ? storage : undefined,
    }),
);
const ids = Array.from(
  { length: Number(tokens) + 1 },
  (_, t) => (7919 * (t + 3) ** 2) % files.config.vocabSize,
);
for (const pass of ["first pass", "second pass", "third pass"]) {
  const { workspaceBytes } = await timed(
    pass,
    () => scoreSequences(commands, weights, { ids_B: [ids], temperature: 1 }),
  );
  if (pass === "third pass") {
    const status = Deno.readTextFileSync("/proc/self/status");
    const peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
    await print(
      `weights ${megabytes(weights.sizeBytes)}, activations ${
        megabytes(workspaceBytes)
      }, peak of the process ${megabytes(peak)}`,
    );
  }
}
