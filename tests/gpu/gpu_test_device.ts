/** One GPU device per test file and operand memory, opened when the first test asks for it. */
import { type Gpu, openGpu } from "../../src/gpu/device.ts";
import type { OperandMemory } from "../../src/gpu/kernel.ts";
import { defaultTuning, type Tuning } from "../../src/gpu/tuning.ts";

/** The layout of software adapters and that of GPUs, with few slots: most tests play few episodes. */
const TUNINGS: Readonly<Record<OperandMemory, Tuning>> = {
  texture: defaultTuning(true),
  buffer: { ...defaultTuning(false), slotCount: 16 },
};

/** How results come back: as the launcher has found this version of Deno to allow, and the safe way where nobody asked. */
export const TEST_READBACK = Deno.env.get("AGENTRL_TEST_READBACK") === "primed"
  ? "primed"
  : "awaited";

const OPENED = new Map<OperandMemory, Promise<Gpu>>();

/** Both memories that operands can have; their bits must agree. */
export const MEMORIES = ["texture", "buffer"] as const satisfies OperandMemory[];

/**
 * The device that this file's tests share.
 * @throws {UserError} With the sentence that says how to get an adapter, where there is none.
 */
export function testGpu(operandMemory: OperandMemory = "texture"): Promise<Gpu> {
  const known = OPENED.get(operandMemory);
  if (known) return known;
  const opened = openGpu({ tuning: TUNINGS[operandMemory], readback: TEST_READBACK });
  OPENED.set(operandMemory, opened);
  return opened;
}

/** A test that needs a GPU. The shared device outlives it, so that what it opens is not a leak. */
export function gpuTest(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, fn, sanitizeOps: false, sanitizeResources: false });
}
