/** Replays a small list 40,000 times and prints how the resident set and the live buffers grew: a process of memory_test.ts. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { prepare } from "./add_scaled.ts";

/** Replays between two looks at the memory. */
const REPLAYS = 10_000;

/** Collects garbage, so that encoders that wait for the collector do not count as a leak. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
}

const { gpu: { device }, commands, plan, y } = await prepare();
let created = 0;
const createBuffer = device.createBuffer.bind(device);
device.createBuffer = (descriptor) => {
  created++;
  return createBuffer(descriptor);
};

/** @returns The resident set afterwards. */
async function replayOften(): Promise<number> {
  for (let i = 0; i < REPLAYS; i++) {
    commands.replay(plan, { scale: 1 });
    commands.replay(plan, { scale: -1 });
    if (i % 10 === 9) commands.submit();
    if (i % 500 === 499) await commands.read([{ tensor: y, sizeBytes: 16 }]);
  }
  collectGarbage();
  return Deno.memoryUsage().rss;
}

await replayOften();
created = 0;
const before = await replayOften();
await replayOften();
const grownBytes = await replayOften() - before;
console.log(JSON.stringify({ grownBytes, created }));
Deno.exit(0);
