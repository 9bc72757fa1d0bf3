/** Tests of `agentrl bench` as a child process. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describeKernels } from "../../cli/bench/kernels.ts";
import { agentrl, assertRefused } from "./command_line.ts";

Deno.test("agentrl bench kernels checks and times every kernel, and says so in 80 columns", async () => {
  const { code, stdout, stderr } = await agentrl(["bench", "kernels", "--json"]);
  assertEquals(code, 0, stderr);
  const document = JSON.parse(stdout);
  const { kernels, rowCount, errors, adapter, cpu, updateMs } = document;
  assertEquals(rowCount, 1800);
  assert(errors.gradient > 0 && errors.gradient < 1e-4);
  assert(adapter.length > 0 && cpu.length > 0 && updateMs > 0);
  assert(kernels.length > 20);
  for (const { kernel, timeUs, gflops, gbPerSecond } of kernels) {
    assert(timeUs > 0, kernel);
    assert((gflops === null) !== (gbPerSecond === null) && (gflops ?? gbPerSecond) > 0, kernel);
  }
  // Without --json the same measurement is described by this.
  const text = describeKernels(document);
  assert(text.split("\n").every((line) => line.length <= 80), text);
  for (const part of ["adapter ", "CPU ", "against float64", "GFLOP/s", "GB/s", "clip_adam"]) {
    assertStringIncludes(text, part);
  }
});

Deno.test("agentrl bench refuses an unknown benchmark", async () => {
  const sentence = /unknown benchmark "kernel": did you mean "kernels"\?/;
  assertRefused(await agentrl(["bench", "kernel"]), { code: 2, sentence });
});

Deno.test("agentrl bench logprob refuses a peer that does not start before it measures", async () => {
  const { code, stdout, stderr } = await agentrl(["bench", "logprob", "--peer", "missing.py"]);
  assertEquals([code, stdout], [2, ""], stderr);
  // What Python says of it stands before the sentence; the second form is for machines without Python.
  assertMatch(stderr, /The peer missing\.py did not say|Cannot start the peer missing\.py/);
});
