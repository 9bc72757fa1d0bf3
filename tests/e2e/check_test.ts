/** Tests of `agentrl check`, `faults`, `metrics` and the gate of `train`, as a user calls them; streams_test.ts starts the process. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { INVARIANTS } from "../../src/diagnose/invariant_list.ts";
import { METRICS } from "../../src/rl/metric_dictionary.ts";
import { readChecks } from "../../src/run/checks_file.ts";
import { gpuTest } from "../gpu/gpu_test_device.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, golden } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";

const MODEL = golden("model.safetensors");

/** A quarter of the default batch tells as much, in half of the time. */
const CHECK = ["check", "--checkpoint", MODEL, "--set", "problems=4", "--set", "groupSize=4"];

interface CheckDocument {
  readonly bug: string;
  readonly checks: readonly { readonly id: number; readonly verdict: string }[];
}

const violatedIds = ({ checks }: CheckDocument) =>
  checks.filter(({ verdict }) => verdict === "violated").map(({ id }) => id);

commandTest(
  "agentrl check exits 0 where all holds, and 1 with the checks that a fault violates",
  async () => {
    const healthy = await agentrlHere([...CHECK, "--json"]);
    assertEquals(healthy.code, 0, healthy.stderr);
    const document: CheckDocument = JSON.parse(healthy.stdout);
    assertEquals([document.bug, violatedIds(document)], ["none", []]);
    assertEquals(document.checks.map(({ id }) => id), INVARIANTS.map(({ id }) => id));
    assert(document.checks.every(({ verdict }) => verdict !== "not-checkable"));

    const faulty = await agentrlHere([...CHECK, "--bug", "sampler_temp", "--json"]);
    assertEquals(faulty.code, 1, faulty.stderr);
    assertEquals(violatedIds(JSON.parse(faulty.stdout)), [2, 3, 12]);

    const text = await agentrlHere([
      "check",
      "--checkpoint",
      MODEL,
      "--algo",
      "reinforce",
      ...["--set", "klCoef=0", "--set", "episodes=16"],
    ]);
    assertEquals(text.code, 0, text.stderr);
    assertMatch(text.stdout, /^ 9 {2}KL to the reference > 0 after a step .* not-applicable$/m);
    assert(text.stdout.split("\n").every((line) => line.length <= 80), "80 columns");
  },
);

commandTest("agentrl check refuses what it cannot use, before it computes", async () => {
  assertRefused(await agentrlHere(["check", "--bug", "mask_shft"]), {
    code: 2,
    sentence: /--bug must be one of .*mask_shift/,
  });
  assertRefused(await agentrlHere(["check", "--matrix", "--bug", "mask_shift"]), {
    code: 2,
    sentence: /leave --bug out/,
  });
  assertRefused(await agentrlHere(["check", "--checkpoint", "no-such-file"]), {
    code: 2,
    sentence: /no-such-file/,
  });
  assertRefused(await agentrlHere(["faults", "mask_shft"]), { code: 2, sentence: /mask_shift/ });
});

commandTest(
  "agentrl train writes checks.json, and does not begin with a violated invariant",
  () =>
    withFolder(async (folder) => {
      const run = `${folder}/run`;
      const args = ["train", "--base", MODEL, "--steps", "1", "--out", run];
      const bugged = ["--bug", "accum_local", "--set", "problems=2", "--set", "evalEvery=0"];
      assertRefused(await agentrlHere([...args, ...bugged]), {
        code: 1,
        sentence: /violates 6 accumulated = one-pass gradient .*--no-gate/s,
      });
      const verdicts = readChecks(`${run}/checks.json`);
      const broken = verdicts.filter(({ verdict }) => verdict === "violated").map(({ id }) => id);
      assertEquals(broken.filter((id) => id <= 11), [6]);
      const resumed = await agentrlHere(["train", "--out", run, "--resume", "--no-gate", "--json"]);
      assertEquals(resumed.code, 0, resumed.stderr);
      assertEquals(JSON.parse(resumed.stdout).steps, 1);
    }),
);

gpuTest(
  "agentrl faults makes runs, finishes what is there, and sums them up",
  () =>
    withFolder(async (folder) => {
      const args = ["faults", "kl_0.1", "ref_is_policy", "--checkpoint", MODEL, "--out", folder];
      const first = await agentrlHere([...args, "--json"]);
      assertEquals(first.code, 0, first.stderr);
      const { runs } = JSON.parse(first.stdout);
      assertEquals(Object.keys(runs), ["ref_is_policy", "kl_0.1"]);
      const { first4, last4, evalPass, weightsHash } = runs.ref_is_policy;
      assertEquals([first4.kl_ref, last4.kl_ref], [0, 0]);
      assert(runs["kl_0.1"].last4.kl_ref > 0);
      assert(evalPass >= 0 && evalPass <= 1);
      assertMatch(weightsHash, /^[0-9a-f]{64}$/);
      assertEquals(
        readChecks(`${folder}/ref_is_policy/checks.json`)[8].verdict,
        "violated",
        "faults go on past the gate",
      );
      const again = await agentrlHere([...args, "--json"]);
      assertEquals(JSON.parse(again.stdout), JSON.parse(first.stdout));
      // As a process of its own, which reads the run and opens a device.
      assertRefused(await agentrl([...args, "--seed", "1"]), {
        code: 2,
        sentence: /holds a different run/,
      });
    }),
);

commandTest("agentrl metrics explains every metric in 80 columns, and as a document", async () => {
  const text = await agentrlHere(["metrics"]);
  assertEquals(text.code, 0, text.stderr);
  for (const name of Object.keys(METRICS)) assert(text.stdout.includes(`  ${name} `), name);
  assert(text.stdout.split("\n").every((line) => line.length <= 80), "80 columns");
  const { metrics } = JSON.parse((await agentrlHere(["metrics", "--json"])).stdout);
  assertEquals(Object.keys(metrics), Object.keys(METRICS));
  assertEquals(metrics.logp_gap.healthy, [0, 0]);
});
