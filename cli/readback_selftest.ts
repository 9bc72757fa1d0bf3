/**
 * Finds out whether synchronous reads of primed staging buffers work on this runtime (see src/gpu/readback.ts): prints `primed`
 * and ends with 0 when 200 of 200 reads of changing data were right. The launcher runs it once per version of Deno in a process
 * of its own, because a runtime on which they do not work may end the process.
 */
import { Commands } from "../src/gpu/commands.ts";
import { openGpu } from "../src/gpu/device.ts";
import { createTensor } from "../src/gpu/tensor.ts";

const READS = 200;
const WORDS = 1024;

/** Reads that returned exactly what was written before them. */
async function rightReads(): Promise<number> {
  const commands = new Commands(await openGpu({ readback: "primed" }));
  const tensor = createTensor(commands.gpu.device, { label: "changing", sizeBytes: 4 * WORDS });
  let right = 0;
  for (let round = 0; round < READS; round++) {
    const data = Uint32Array.from({ length: WORDS }, (_, i) => i * 2654435761 + round);
    commands.write(tensor, data);
    const [bytes] = await commands.read([{ tensor, sizeBytes: 4 * WORDS }]);
    const found = new Uint32Array(bytes ?? new ArrayBuffer(0));
    if (found.length === WORDS && found.every((word, i) => word === data[i])) right++;
  }
  return right;
}

if (import.meta.main) {
  const right = await rightReads();
  console.log(right === READS ? "primed" : "awaited");
  Deno.exit(right === READS ? 0 : 1);
}
