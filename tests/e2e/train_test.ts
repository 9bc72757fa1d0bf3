/** Tests of `agentrl train`, `eval` and `base` as child processes: what they print and leave, Ctrl-C, kill -9, bad input. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { readCheckpoint, writeCheckpoint } from "../../src/run/checkpoint.ts";
import { readJournal } from "../../src/files/journal.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import { checkpointSteps, runPaths } from "../../src/run/run_directory.ts";
import { readSettings } from "../../src/run/run_settings.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { resumeRun, SMALL_SETS, smallSettings, startRun } from "../run/small_run.ts";
import { withFolder } from "../files/with_folder.ts";
import { allPoints } from "../logs/read_text.ts";
import { agentrl, assertRefused, golden, LAUNCHER, namesIn } from "./command_line.ts";

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

    const refused = await agentrl(smallArguments(path));
    assertRefused(refused, { code: 2, sentence: /already holds .*; choose another folder/ });
    const other = await agentrl(["train", "--out", path, "--resume", "--set", "lr=0.5"]);
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

/** A copy of a run as it was before its first step. */
function copyStart(from: string, to: string): void {
  Deno.mkdirSync(`${to}/checkpoints`, { recursive: true });
  for (const name of ["config.json", "checks.json", "checkpoints/step-0.safetensors"]) {
    Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Starts a run as the `i`-th child and kills it: some at any moment of the start, most of them among the steps. */
async function killChild(i: number, { path, whole }: { path: string; whole: string }) {
  if (i < 1) {
    const moment = new Promise<void>((resolve) => setTimeout(resolve, 5000 * Math.random()));
    await killAt(moment, spawn(smallArguments(path)));
  } else {
    copyStart(whole, path);
    const child = spawn(["train", "--out", path, "--resume"]);
    await killAt(waitForRows(path, 1 + Math.floor(Math.random() * (STEPS - 1))), child);
  }
}

/** One at any moment of the start, the others among the steps; `deno task kill` has hundreds. */
const KILLS = 3;

gpuTest(
  "agentrl train killed at three random moments goes on to the same bits",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const whole = `${folder}/whole`;
      const start = { settings: smallSettings(STEPS), ignoreChecks: true };
      const expected = await startRun(commands, { ...start, path: whole });
      const killedAfter: number[] = [];
      for (let i = 0; i < KILLS; i++) {
        const path = `${folder}/killed-${i}`;
        await killChild(i, { path, whole });
        killedAfter.push(checkpointSteps(path).at(-1) ?? -1);
        // Without config.json the run had not begun, and --resume would say so.
        const result = exists(runPaths(path).config)
          ? await resumeRun(commands, { path, ignoreChecks: true })
          : await startRun(commands, { ...start, path });
        assertEquals(result, expected, `killed after checkpoints ${killedAfter}`);
        for (const file of ["metrics.jsonl", "episodes.jsonl"]) {
          const read = (run: string) => Deno.readTextFileSync(`${run}/${file}`);
          assert(read(path) === read(whole), `${file} differs, killed after ${killedAfter}`);
        }
      }
      assert(killedAfter.some((step) => step > 0 && step < STEPS), `killed after ${killedAfter}`);
    }),
);

gpuTest(
  "agentrl train --log tensorboard killed and resumed logs every row once, and changes no other file",
  () =>
    withFolder(async (folder) => {
      const plain = `${folder}/plain`;
      const settings = smallSettings(STEPS);
      await startRun(new Commands(await testGpu()), { path: plain, settings, ignoreChecks: true });
      const path = `${folder}/run`;
      await killAt(
        waitForRows(path, 6),
        spawn([...smallArguments(path), "--log", "tensorboard"]),
      );
      const killedAfter = readJournal(runPaths(path).metrics).length;
      const resumed = await agentrl(["train", "--out", path, "--resume", "--no-gate"]);
      assertEquals(resumed.code, 0, resumed.stderr);

      for (
        const file of ["metrics.jsonl", "episodes.jsonl", `checkpoints/step-${STEPS}.safetensors`]
      ) {
        assertEquals(
          Deno.readFileSync(`${path}/${file}`),
          Deno.readFileSync(`${plain}/${file}`),
          file,
        );
      }
      const log = await readRunLog(`${path}/tensorboard`);
      assertEquals(log.source.files.length, 2, `killed after ${killedAfter} rows`);
      const rows = readJournal(runPaths(path).metrics);
      const expected: Record<string, (readonly [number, number])[]> = {};
      for (const { step, ...metrics } of rows) {
        for (const [key, value] of Object.entries(metrics)) {
          (expected[key] ??= []).push([Number(step), Math.fround(Number(value))]);
        }
      }
      assert(Object.keys(expected).length > 20);
      assertEquals<unknown>(allPoints(log), expected);
    }),
);

Deno.test("agentrl train ends with step, tensor and batch when weights overflow", () =>
  withFolder(async (folder) => {
    const { config, weights_W } = readCheckpoint(golden("model.safetensors"));
    const base = `${folder}/huge.safetensors`;
    writeCheckpoint(base, { config, weights_W: weights_W.map((w) => 1e25 * w), step: 0 });
    const path = `${folder}/run`;
    const result = await agentrl(smallArguments(path, base));
    assertEquals([result.code, result.stdout], [1, ""]);
    assertMatch(
      result.stderr,
      /agentrl train: Step 0 is not finite: in minibatch 1 of 2 the loss is NaN .* the gradient of tok_emb\.weight is the first .* holds the batch and the weights\n$/,
    );
    assertEquals(namesIn(`${path}/steps/0`), ["batch.safetensors", "weights.safetensors"]);

    const evaluated = await agentrl(["eval", "--checkpoint", base, "--preset", "rl"]);
    assertRefused(evaluated, { code: 1, sentence: /its log-probs are not finite/ });
  }));

Deno.test("agentrl base writes an untrained agent and measures it in 80 columns", () =>
  withFolder(async (folder) => {
    const out = `${folder}/base.safetensors`;
    const { code, stdout } = await agentrl(["base", "--kind", "untrained", "--out", out]);
    assertEquals([code, namesIn(folder)], [0, ["base.safetensors"]]);
    assert(stdout.replaceAll(folder, "").split("\n").every((line) => line.length <= 80), stdout);
    assertMatch(stdout, /train +320 +0\.00 +0\.00-0\.01 +0\.00 +0\.00 +6\.0/);
    const evaluate = ["eval", "--checkpoint", out, "--preset", "chapter6", "--episodes", "10"];
    const evaluated = await agentrl([...evaluate, "--transcripts", "2"]);
    assert(evaluated.stdout.replaceAll(folder, "").split("\n").every((l) => l.length <= 80));
    assertStringIncludes(evaluated.stdout, "\nepisode 1, score: reward 0, stop budget, turns 6\n");
  }));

Deno.test("agentrl base, train and eval refuse bad input with one sentence", () =>
  withFolder(async (folder) => {
    const file = `${folder}/model.safetensors`;
    const cases: readonly (readonly [string[], RegExp])[] = [
      [["base", "--kind", "plain", "--out", `${folder}/no/x`], /Cannot write .*no such file or f/],
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
    await Promise.all(cases.map(async ([args, sentence]) => {
      assertRefused(await agentrl(args), { code: 2, sentence });
    }));
    assertEquals(namesIn(folder), []);
  }));
