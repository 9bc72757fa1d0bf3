/** Tests of a run's folder with something damaged, lost or in the wrong place: it is redone or refused, and never believed. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { readTensorFile, writeTensorFile } from "../../src/files/tensor_file.ts";
import { Commands } from "../../src/gpu/commands.ts";
import { checkpointPath, runPaths } from "../../src/run/run_directory.ts";
import { replaceAscii } from "../e2e/damaged_files.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { withFolder } from "../files/with_folder.ts";
import { resumeRun, smallSettings, startRun } from "../run/small_run.ts";

const STEPS = 5;

function copyFolder(from: string, to: string): void {
  Deno.mkdirSync(to, { recursive: true });
  for (const { name, isDirectory } of Deno.readDirSync(from)) {
    if (isDirectory) copyFolder(`${from}/${name}`, `${to}/${name}`);
    else Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Changes the lines of a journal. */
function editLines(path: string, edit: (lines: string[]) => string[]): void {
  const lines = Deno.readTextFileSync(path).split("\n").filter(Boolean);
  Deno.writeTextFileSync(path, edit(lines).map((line) => `${line}\n`).join(""));
}

/** Rewrites a checkpoint with other texts, sealed again: what a SHA-256 alone would not know. */
function editMetadata(path: string, edit: (metadata: Record<string, string>) => object): void {
  const { tensors, metadata } = readTensorFile(path);
  writeTensorFile(path, { tensors, metadata: { ...metadata, ...edit(metadata) } });
}

/** Damage after which the run must have the bits and rows of an undisturbed one. */
const HEALED: Readonly<Record<string, (path: string) => void>> = {
  "no metrics": (path) => Deno.removeSync(runPaths(path).metrics),
  "empty metrics": (path) => Deno.writeTextFileSync(runPaths(path).metrics, ""),
  "a missing row": (path) => editLines(runPaths(path).metrics, (l) => l.toSpliced(1, 1)),
  "a row twice": (path) => editLines(runPaths(path).metrics, (l) => l.toSpliced(2, 0, l[2])),
  "reversed rows": (path) => editLines(runPaths(path).metrics, (l) => l.toReversed()),
  "a negative step": (path) =>
    editLines(
      runPaths(path).metrics,
      (l) => [l[0].replace('"step":0', '"step":-1'), ...l.slice(1)],
    ),
  "a last row of nothing but its step": (path) =>
    editLines(runPaths(path).metrics, (l) => l.with(-1, `{"step":${STEPS - 1}}`)),
  "a last row without a reward": (path) =>
    editLines(
      runPaths(path).metrics,
      (l) => l.with(-1, JSON.stringify({ ...JSON.parse(l[STEPS - 1]), reward: null })),
    ),
  "a reward of text": (path) =>
    editLines(
      runPaths(path).metrics,
      (l) => l.with(-1, JSON.stringify({ ...JSON.parse(l[STEPS - 1]), reward: "much" })),
    ),
  "a line of garbage": (path) => editLines(runPaths(path).metrics, (l) => l.with(2, "\x1b{")),
  "a missing episode": (path) => editLines(runPaths(path).episodes, (l) => l.toSpliced(9, 1)),
  "episodes in another order": (path) =>
    editLines(runPaths(path).episodes, (l) => [...l.slice(0, 8), ...l.slice(8).toReversed()]),
  "no last checkpoint": (path) => Deno.removeSync(checkpointPath(path, STEPS)),
};

/** Damage that nothing can make good. */
const REFUSED: readonly (readonly [string, (path: string) => void, RegExp])[] = [
  [
    "no checkpoint",
    (path) => Deno.removeSync(`${path}/checkpoints`, { recursive: true }),
    /has rows of metrics or episodes but no checkpoint to continue from/,
  ],
  [
    "a flipped bit in the latest checkpoint",
    (path) => {
      const file = checkpointPath(path, STEPS);
      const bytes = Deno.readFileSync(file);
      bytes[bytes.length - 1000] ^= 4;
      Deno.writeFileSync(file, bytes);
    },
    /step-5\.safetensors: it is damaged, since its content does not have the SHA-256/,
  ],
  [
    "another step in the state",
    (path) =>
      editMetadata(checkpointPath(path, STEPS), ({ state }) => ({
        state: JSON.stringify({ ...JSON.parse(state), step: 9 }),
      })),
    /its path says step 5, its metadata step 5 and its state step 9/,
  ],
  [
    "an earlier step in the state",
    (path) =>
      editMetadata(checkpointPath(path, STEPS), ({ state }) => ({
        state: JSON.stringify({ ...JSON.parse(state), step: 3 }),
      })),
    /its state step 3/,
  ],
  [
    "a forgotten optimizer",
    (path) =>
      editMetadata(checkpointPath(path, STEPS), ({ state }) => ({
        state: JSON.stringify({ ...JSON.parse(state), adamStep: 0 }),
      })),
    /its state has 0 updates behind it, which is fewer than its 5 steps/,
  ],
  [
    "another number of heads",
    (path) => editMetadata(checkpointPath(path, STEPS), () => ({ head_count: "2" })),
    /its model has other sizes than/,
  ],
  [
    "a checkpoint in place of another",
    (path) => Deno.copyFileSync(checkpointPath(path, 2), checkpointPath(path, STEPS)),
    /its path says step 5, its metadata step 2/,
  ],
  [
    "another base agent",
    (path) => {
      const { tensors } = readTensorFile(checkpointPath(path, 2));
      const { metadata } = readTensorFile(checkpointPath(path, 0));
      writeTensorFile(checkpointPath(path, 0), { tensors, metadata });
    },
    /it is not the base agent that this run began with/,
  ],
  [
    "lost rows and no checkpoint before them",
    (path) => {
      editLines(runPaths(path).metrics, (l) => l.slice(2));
      Deno.removeSync(checkpointPath(path, 0));
    },
    /lacks step 0 .* no checkpoint is left to redo that step from/,
  ],
];

gpuTest(
  "a damaged run is redone or refused, and never believed",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const whole = `${folder}/whole`;
      const start = { settings: smallSettings(STEPS), ignoreChecks: true };
      const expected = await startRun(commands, { ...start, path: whole });
      const read = (path: string, file: string) => Deno.readTextFileSync(`${path}/${file}`);
      for (const [name, damage] of Object.entries(HEALED)) {
        const path = `${folder}/${name}`;
        copyFolder(whole, path);
        damage(path);
        const remarks: string[] = [];
        const onRemark = (sentence: string) => remarks.push(sentence);
        assertEquals(await resumeRun(commands, { path, onRemark }), expected, name);
        for (const file of ["metrics.jsonl", "episodes.jsonl"]) {
          assert(read(path, file) === read(whole, file), `${name}: other ${file}`);
        }
        if (name === "no last checkpoint") assertEquals(remarks, []);
        else {assertMatch(
            remarks.join(),
            /lacks step \d .*continues from step \d and redoes the later steps/,
            name,
          );}
      }
      for (const [name, damage, sentence] of REFUSED) {
        const path = `${folder}/${name}`;
        copyFolder(whole, path);
        damage(path);
        const before = read(path, "metrics.jsonl");
        const error = await assertRejects(() => resumeRun(commands, { path }), UserError);
        assertMatch(error.message, sentence, name);
        assertEquals([error.exitCode, read(path, "metrics.jsonl")], [2, before], name);
      }
    }),
);

gpuTest(
  "a run of an earlier version goes on, and is said to be unverified",
  () =>
    withFolder(async (folder) => {
      const commands = new Commands(await testGpu());
      const path = `${folder}/run`;
      const start = { settings: smallSettings(2), ignoreChecks: true };
      await startRun(commands, { ...start, path });
      for (const step of [0, 2]) {
        const file = checkpointPath(path, step);
        const bytes = Deno.readFileSync(file);
        Deno.writeFileSync(file, replaceAscii(bytes, '"content_sha256"', '"content_unsaid"'));
      }
      const remarks: string[] = [];
      const onRemark = (sentence: string) => remarks.push(sentence);
      const { steps } = await resumeRun(commands, { path, steps: 3, onRemark });
      assertEquals([steps, remarks.length], [3, 1]);
      assertMatch(remarks[0], /step-2\.safetensors carries no SHA-256, so it is unverified/);
    }),
);
