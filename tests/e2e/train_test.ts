/** Tests of `agentrl train`, `eval` and `base`: what they print and leave, kill -9 of their processes, bad input. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/run/checkpoint.ts";
import { readJournal } from "../../src/files/journal.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import { checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, SMALL_SETS, smallSettings, startRun, writeBegunRun } from "../run/small_run.ts";
import { withFolder } from "../files/with_folder.ts";
import { allPoints } from "../logs/read_text.ts";
import { agentrl, assertRefused, golden, LAUNCHER, namesIn } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";

const STEPS = 8;

/** The small run of tests/run/small_run.ts on the command line. */
function smallArguments(path: string, base = golden("model.safetensors")): string[] {
  const sets = SMALL_SETS.flatMap((set) => ["--set", set]);
  // The golden agent is not a subject of the gate here.
  return ["train", "--steps", `${STEPS}`, "--base", base, "--out", path, "--no-gate", ...sets];
}

/** A child that can be stopped, and a promise of its end. */
function spawn(args: readonly string[]) {
  const child = new Deno.Command(LAUNCHER, {
    args: [...args],
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  return { child, output: child.output() };
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Waits until a run has `steps` rows. */
async function waitForRows(path: string, steps: number): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    try {
      if (readJournal(runPaths(path).metrics).length >= steps) return;
    } catch {
      // The journal is not there yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`${path} has no ${steps} rows after a minute`);
}

Deno.test("agentrl train prints one document and leaves a run that eval reads", () =>
  withFolder(async (folder) => {
    const path = `${folder}/run`;
    const { code, stdout, stderr } = await agentrl([...smallArguments(path), "--json"]);
    assertEquals(code, 0, stderr);
    const document = JSON.parse(stdout);
    assertEquals(Object.keys(document), ["run", "steps", "weightsHash", "last"]);
    assertEquals([document.run, document.steps, document.last.step], [path, STEPS, STEPS - 1]);
    assertMatch(document.weightsHash, /^[0-9a-f]{64}$/);
    assertMatch(stderr, /^step 0: held-out pass [01]\.\d\d \(/);
    assertMatch(stderr, /train 8\/8 \| \d+s \| reward \d\.\d\d pass \d\.\d\d [\d.]+ step\/s\n$/);
    assertEquals(namesIn(path).filter((name) => name !== "lock"), [
      "checkpoints",
      "checks.json",
      "config.json",
      "episodes.jsonl",
      "metrics.jsonl",
      "steps",
      "timing.jsonl",
    ]);
    const { starts } = readSettings(runPaths(path).config);
    assertEquals(starts.map(({ command }) => command.startsWith(`${LAUNCHER} train --`)), [true]);

    const evaluated = await agentrl([
      ...["eval", "--checkpoint", path, "--split", "heldout"],
      ...["--episodes", "20", "--seed", "3", "--json"],
    ]);
    const result = JSON.parse(evaluated.stdout);
    assertEquals(
      Object.keys(result).join(),
      "split,episodes,reward,passRate,passRateLow,passRateHigh,validCalls,submitRate,turns,actionTokens," +
        "reads,edits,hardcode,firstEditRight,logpGapMax",
    );
    assertEquals([result.split, result.episodes, result.logpGapMax], ["heldout", 20, 0]);
    assert(result.passRateLow <= result.passRate && result.passRate <= result.passRateHigh);

    const refused = await agentrlHere(smallArguments(path));
    assertRefused(refused, { code: 2, sentence: /already holds .*; choose another folder/ });
    const other = await agentrlHere(["train", "--out", path, "--resume", "--set", "lr=0.5"]);
    assertRefused(other, { code: 2, sentence: /lr is 0\.001 in this run, but 0\.5 is asked for/ });
  }));

/** Kills a child at a moment and waits for its end. */
async function killAt(
  moment: Promise<void>,
  { child, output }: ReturnType<typeof spawn>,
): Promise<void> {
  await moment;
  try {
    child.kill("SIGKILL");
  } catch {
    // It ended before.
  }
  await output;
}

/** Kills a run that logs for TensorBoard, anywhere behind its third row: then the checkpoint of step 2 is there. @returns The step that it will go on from. */
async function killAmongSteps(path: string): Promise<number> {
  await writeBegunRun(path, smallSettings(STEPS));
  const child = spawn(["train", "--out", path, "--resume", "--log", "tensorboard"]);
  await killAt(waitForRows(path, 3 + Math.floor(Math.random() * (STEPS - 4))), child);
  return checkpointSteps(path).at(-1) ?? -1;
}

/** The files of two runs that must be the same bytes. */
function assertSameRun(path: string, whole: string, what: string): void {
  for (const file of ["metrics.jsonl", "episodes.jsonl", `checkpoints/step-${STEPS}.safetensors`]) {
    const read = (run: string) => Deno.readFileSync(`${run}/${file}`);
    assertEquals(read(path), read(whole), `${file} differs, ${what}`);
  }
}

/** What the TensorBoard log of a run must hold: every number of its rows once. */
function assertLogged(found: unknown, path: string): void {
  const expected: Record<string, (readonly [number, number])[]> = {};
  for (const { step, ...metrics } of readJournal(runPaths(path).metrics)) {
    for (const [key, value] of Object.entries(metrics)) {
      (expected[key] ??= []).push([Number(step), Math.fround(Number(value))]);
    }
  }
  assert(Object.keys(expected).length > 20);
  assertEquals(found, expected);
}

/** A child may make its last step before it is killed; then another one is. */
const MOST_KILLS = 8;

// `deno task kill` has hundreds.
gpuTest(
  "agentrl train killed at random moments goes on to the same bits, and logs every row once",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const whole = `${folder}/whole`;
      const start = { settings: smallSettings(STEPS), ignoreChecks: true };
      const expected = await startRun(commands, { ...start, path: whole });

      const any = `${folder}/any`;
      const moment = new Promise<void>((resolve) => setTimeout(resolve, 4000 * Math.random()));
      await killAt(moment, spawn(smallArguments(any)));
      // Without config.json the run had not begun, and --resume would say so.
      const result = exists(runPaths(any).config)
        ? await resumeRun(commands, { path: any, ignoreChecks: true })
        : await startRun(commands, { ...start, path: any });
      assertEquals(result, expected, "killed at any moment of the start");
      assertSameRun(any, whole, "killed at any moment of the start");

      let killedAfter = STEPS;
      for (let i = 0; killedAfter === STEPS; i++) {
        assert(i < MOST_KILLS, "no child was killed among its steps");
        const path = `${folder}/killed-${i}`;
        killedAfter = await killAmongSteps(path);
        const what = `killed after checkpoint ${killedAfter}`;
        assert(killedAfter > 0, what);
        const resumed = await agentrlHere([
          ...["train", "--out", path, "--resume", "--no-gate", "--json"],
        ]);
        assertEquals(resumed.code, 0, resumed.stderr);
        const { steps, weightsHash, last } = JSON.parse(resumed.stdout);
        assertEquals<unknown>({ steps, weightsHash, last }, expected, what);
        assertSameRun(path, whole, what);
        const log = await readRunLog(`${path}/tensorboard`);
        assertEquals(log.source.files.length, 2, what);
        assertLogged(allPoints(log), path);
        const base = "checkpoints/step-0.safetensors";
        const read = (run: string) => Deno.readFileSync(`${run}/${base}`);
        assertEquals(read(path), read(whole), "writeBegunRun() writes what a start writes");
      }
    }),
);

commandTest(
  "agentrl train ends with step, tensor and batch when weights overflow",
  () =>
    withFolder(async (folder) => {
      const { config, weights_W } = readCheckpoint(golden("model.safetensors"));
      const base = `${folder}/huge.safetensors`;
      writeCheckpoint(base, { config, weights_W: weights_W.map((w) => 1e25 * w), step: 0 });
      const path = `${folder}/run`;
      const result = await agentrlHere(smallArguments(path, base));
      assertEquals([result.code, result.stdout], [1, ""]);
      assertMatch(
        result.stderr,
        /agentrl train: Step 0 is not finite: in minibatch 1 of 2 the loss is NaN .* the gradient of tok_emb\.weight is the first .* holds the batch and the weights\n$/,
      );
      assertEquals(namesIn(`${path}/steps/0`), ["batch.safetensors", "weights.safetensors"]);

      const evaluated = await agentrlHere(["eval", "--checkpoint", base, "--preset", "rl"]);
      assertRefused(evaluated, { code: 1, sentence: /its log-probs are not finite/ });
    }),
);

commandTest(
  "agentrl base writes an untrained agent and measures it in 80 columns",
  () =>
    withFolder(async (folder) => {
      const out = `${folder}/base.safetensors`;
      const { code, stdout } = await agentrlHere(["base", "--kind", "untrained", "--out", out]);
      assertEquals([code, namesIn(folder)], [0, ["base.safetensors"]]);
      assert(stdout.replaceAll(folder, "").split("\n").every((line) => line.length <= 80), stdout);
      assertMatch(stdout, /train +320 +0\.00 +0\.00-0\.01 +0\.00 +0\.00 +6\.0/);
      const evaluate = ["eval", "--checkpoint", out, "--preset", "chapter6", "--episodes", "10"];
      const evaluated = await agentrlHere([...evaluate, "--transcripts", "2"]);
      assert(evaluated.stdout.replaceAll(folder, "").split("\n").every((l) => l.length <= 80));
      assertStringIncludes(
        evaluated.stdout,
        "\nepisode 1, score: reward 0, stop budget, turns 6\n",
      );
    }),
);

commandTest(
  "agentrl base, train and eval refuse bad input with one sentence",
  () =>
    withFolder(async (folder) => {
      const file = `${folder}/model.safetensors`;
      const cases: readonly (readonly [string[], RegExp])[] = [
        [
          ["base", "--kind", "plain", "--out", `${folder}/no/x`],
          /Cannot write .*no such file or f/,
        ],
        [["base", "--kind", "plain", "--out", file, "--mix", "blind"], /--mix blind: it must be/],
        [["base", "--kind", "untrained", "--out", file, "--mix", "blind:1"], /--mix has no effect/],
        [["train", "--out", `${folder}/run`, "--resume"], /there is no run/],
        [["train", "--out", `${folder}/run`, "--base", "plane"], /Cannot read plane/],
        [
          ["train", "--out", `${folder}/run`, "--set", "lrr=1"],
          /unknown key "lrr": did you mean "lr"/,
        ],
        [["eval", "--checkpoint", file, "--preset", "rl"], /Cannot read .*model\.safetensors/],
        [["eval", "--checkpoint", golden("model.safetensors")], /--preset is required/],
        [["eval", "--checkpoint", folder], /has no checkpoints\/step-N\.safetensors/],
      ];
      for (const [args, sentence] of cases) {
        assertRefused(await agentrlHere(args), { code: 2, sentence });
      }
      assertEquals(namesIn(folder), []);
    }),
);

commandTest(
  "agentrl train says that sampler and trainer may round apart, and keeps what the adapter does",
  () =>
    withFolder(async (folder) => {
      const { arithmetic } = await testGpu();
      const found = arithmetic.known;
      const contracts = {
        fmaRounds: "once",
        contractsProducts: true,
        reassociatesSums: false,
        cancelsTerms: false,
      } as const;
      const sets = SMALL_SETS.flatMap((set) => ["--set", set]);
      const train = (path: string) =>
        agentrlHere([
          "train",
          "--steps=1",
          "--base",
          golden("model.safetensors"),
          "--out",
          path,
          ...sets,
        ]);
      const settings = (path: string) => readSettings(runPaths(path).config);
      try {
        arithmetic.known = contracts;
        const path = `${folder}/contracts`;
        const { code, stderr } = await train(path);
        assertEquals(code, 0, stderr);
        assertMatch(
          stderr,
          /may differ by rounding.*\(fma rounds once; contracts products and sums; /,
        );
        assertEquals(settings(path).arithmetic, contracts);
        // The gap is measured, and here it is none; the check says what it would allow.
        const checks = JSON.parse(Deno.readTextFileSync(runPaths(path).checks)).checks;
        const { verdict, value, bound } = checks.find(({ id }: { readonly id: number }) =>
          id === 2
        );
        assertEquals([verdict, value, bound], ["holds", 0, 1e-4]);
        arithmetic.known = { ...contracts, contractsProducts: false };
        const other = await train(`${folder}/keeps`);
        assert(!other.stderr.includes("rounding"), other.stderr);
        assertEquals(settings(`${folder}/keeps`).arithmetic?.contractsProducts, false);
      } finally {
        arithmetic.known = found;
      }
    }),
);
