/** Tests of `agentrl bench all`: suites that fail beside suites that go on, the document, and the file it goes to. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { benchAll } from "../../cli/bench/all.ts";
import { SUITES } from "../../cli/bench/suites.ts";
import { command } from "../../cli/commands/bench.ts";
import { allSchema } from "../../src/bench/documents.ts";
import { UserError } from "../../src/core/errors.ts";
import { benchSchema, speedPage } from "../../src/report/speed_page.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";

const FLAGS = {
  requireGpu: false,
  rounds: 7,
  peer: "",
  out: "",
  tune: false,
  shape: "small",
  tokens: 512,
  weights: "bf16",
} as const;

const ROLLOUT = {
  adapter: "a",
  cpu: "c",
  rounds: 2,
  peak: { gflops: 90, gbPerSecond: 20 },
  rollouts: [{
    episodes: 64,
    ms: 30,
    tokensPerSecond: 5000,
    episodesPerSecond: 2000,
    usPerToken: 20,
    rooflineShare: 0.1,
  }],
};

gpuTest("benchAll() records a suite that fails as a sentence, and the others go on", async () => {
  const asked: unknown[] = [];
  const { document, text, exitCode } = await benchAll({
    rollout: (commands, { rounds, isShort, tokens }) => {
      asked.push([rounds, isShort, tokens, commands.gpu.adapter.isSoftware]);
      return Promise.resolve({ document: ROLLOUT, text: "a table of rollouts" });
    },
    broken: () => Promise.reject(new Error("The GPU device was lost\n  at line 3")),
    refused: () => Promise.reject(new UserError("Cannot use this: too small")),
    last: () => Promise.resolve({ document: { odd: 1 }, text: "the last" }),
  }, FLAGS);
  assertEquals(asked, [[2, true, 64, true]], "a software adapter is measured in short");
  assertEquals(exitCode, 1);
  const { suites, tuning, info } = allSchema.parse(JSON.parse(JSON.stringify(document)));
  assertEquals(suites.map(({ suite, problem }) => [suite, problem]), [
    ["rollout", null],
    ["broken", "The GPU device was lost at line 3"],
    ["refused", "Cannot use this: too small"],
    ["last", null],
  ]);
  assertEquals([suites[0]?.document, suites[1]?.document], [ROLLOUT, null]);
  assertEquals([tuning, info.software, info.trusted], [null, true, true]);
  for (const part of ["a table of rollouts", "the last", "could not be measured: Cannot use"]) {
    assertStringIncludes(text, part);
  }
  const shown = speedPage([benchSchema.parse(document)]).body.markup;
  for (
    const part of [
      "Time of a rollout",
      "Not measured: Cannot use this",
      "does not know the document",
    ]
  ) {
    assertStringIncludes(shown, part);
  }
});

Deno.test("agentrl bench measures what is listed, and refuses a place for its file before any work", () =>
  withFolder(async (folder) => {
    assertEquals(command.choices, [...Object.keys(SUITES), "all"]);
    const run = (flags: object, name: string) =>
      command.run({ ...FLAGS, json: false, help: false, seed: 0, ...flags } as never, [name]);
    await assertRejects(
      () => run({}, "al"),
      UserError,
      'unknown benchmark "al": did you mean "all"',
    );
    await assertRejects(() => run({}, "toString"), UserError, "unknown benchmark");
    const out = `${folder}/missing/all.json`;
    const refused = await assertRejects(() => run({ out }, "all"), UserError);
    assert(refused.message.includes(out), refused.message);
    assertEquals([...Deno.readDirSync(folder)], []);
  }));
