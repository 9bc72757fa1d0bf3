/** Tests of `agentrl info` as a child process. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { defaultTuning } from "../../src/gpu/tuning.ts";
import { writeTuning } from "../../src/tuning/tuning_cache.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused } from "./command_line.ts";

Deno.test("agentrl info says in 80 columns what computes, with which limits and versions", async () => {
  const { code, stdout, stderr } = await agentrl(["info"]);
  assertEquals([code, stderr], [0, ""]);
  assert(stdout.split("\n").every((line) => line.length <= 80), stdout);
  assertMatch(stdout, /self-test +passed, 8 of 8 kinds/);
  for (
    const name of [
      "adapter",
      "arithmetic",
      "operands",
      "readback",
      "per binding",
      "features",
      "versions",
    ]
  ) {
    assertStringIncludes(stdout, name);
  }
});

Deno.test("agentrl info --require-gpu refuses a software adapter and takes another", async () => {
  const { software, adapter, trusted, selfTest } = JSON.parse(
    (await agentrl(["info", "--json"])).stdout,
  );
  assertEquals(trusted, true);
  assert(selfTest.length > 0 && selfTest.every(({ ok }: { ok: boolean }) => ok));
  const required = await agentrl(["info", "--json", "--require-gpu"]);
  if (software) {
    assertRefused(required, { code: 1, sentence: /Found only the software adapter "/ });
    assertStringIncludes(required.stderr, adapter);
  } else {
    assertEquals([required.code, required.stderr], [0, ""]);
  }
});

Deno.test("agentrl info reads results as AGENTRL_READBACK says, or as this version of Deno can", async () => {
  const readback = async (value: string) => {
    const { stdout } = await agentrl(["info", "--json"], { AGENTRL_READBACK: value });
    return JSON.parse(stdout).readback;
  };
  assertEquals(await readback("awaited"), "awaited");
  // The launcher's own verdict is one of the two, and stays.
  const found = await readback("");
  assert(["awaited", "primed"].includes(found), found);
  assertEquals(await readback(""), found);
  assertRefused(await agentrl(["info"], { AGENTRL_READBACK: "fast" }), {
    code: 2,
    sentence: /AGENTRL_READBACK must be awaited or primed, found "fast"/,
  });
});

Deno.test("agentrl info uses the layout that was measured for this adapter, and says what it cannot use", () =>
  withFolder(async (folder) => {
    const AGENTRL_TUNING = `${folder}/a folder/layouts.json`;
    const info = async (path: string) => {
      const { code, stdout, stderr } = await agentrl(["info", "--json"], { AGENTRL_TUNING: path });
      assertEquals([code, stderr], [0, ""]);
      const { adapter, tuning, tuningMeasured, tuningProblem } = JSON.parse(stdout);
      return { adapter, tuning, tuningMeasured, tuningProblem };
    };
    const fresh = await info(AGENTRL_TUNING);
    assertEquals([fresh.tuningMeasured, fresh.tuningProblem], [false, null]);
    assertEquals(await info(""), fresh, "no file at all");
    const tuning = defaultTuning(fresh.tuning.operandMemory === "buffer");
    writeTuning(AGENTRL_TUNING, { adapter: fresh.adapter, tuning });
    assertEquals(await info(AGENTRL_TUNING), { ...fresh, tuning, tuningMeasured: true });
    Deno.writeTextFileSync(AGENTRL_TUNING, "{");
    const tuningProblem = `Cannot use ${AGENTRL_TUNING}: it holds no layouts`;
    assertEquals(await info(AGENTRL_TUNING), { ...fresh, tuningProblem });
  }));
