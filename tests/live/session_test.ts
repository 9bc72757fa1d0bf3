/** Tests of src/live/session.ts on the machine's own adapter. */
import { assert, assertEquals } from "@std/assert";
import { Commands } from "../../src/gpu/commands.ts";
import { openGpu } from "../../src/gpu/device.ts";
import { sayFinding } from "../../src/diagnose/finding.ts";
import { liveConfig } from "../../src/live/live_run.ts";
import type { Answer, LiveSettings } from "../../src/live/messages.ts";
import { checkpointPath } from "../../src/run/run_directory.ts";
import { triageRun } from "../../src/run/triage_run.ts";
import { golden } from "../e2e/command_line.ts";
import { withFolder } from "../files/with_folder.ts";
import { gpuTest, testGpu } from "../gpu/gpu_test_device.ts";
import { startRun } from "../run/small_run.ts";
import { listenTo, SMALL, wholeSession } from "./small_session.ts";

const SETTINGS: LiveSettings = { fault: "mask_shift", seed: 1, steps: 2 };

const openCommands = async () => new Commands(await testGpu());

/** The answers of a kind about the broken run. */
function ofBroken<Kind extends Answer["kind"]>(answers: readonly Answer[], kind: Kind) {
  return answers.filter((answer): answer is Extract<Answer, { kind: Kind }> =>
    answer.kind === kind && "run" in answer && answer.run === "broken"
  );
}

gpuTest(
  "a session's runs are those on disk: rows, checkpoint and what triage says, byte for byte",
  () =>
    withFolder(async (folder) => {
      const commands = await openCommands();
      const { session, hashes } = await wholeSession(SETTINGS, { openCommands });
      const path = `${folder}/run`;
      const settings = {
        config: liveConfig("broken", SETTINGS, SMALL),
        base: { file: golden("model.safetensors") },
        bug: "mask_shift",
        baseHash: null,
        starts: [],
        adapter: commands.gpu.adapter.description,
      } as const;
      const { weightsHash } = await startRun(commands, { path, settings, ignoreChecks: true });
      assertEquals(hashes.broken, weightsHash);
      assert(hashes.healthy !== hashes.broken);

      for (const file of ["metrics", "checkpoint"] as const) {
        session.send({ kind: "download", run: "broken", file });
        const { bytes, name } = await session.next("file");
        const onDisk = { metrics: `${path}/metrics.jsonl`, checkpoint: checkpointPath(path, 2) };
        assertEquals(bytes, Deno.readFileSync(onDisk[file]), name);
      }

      // A page's agent is that of the debugging runs, which this one stands in for.
      const config = JSON.parse(Deno.readTextFileSync(`${path}/config.json`));
      config.base = { kind: "rl", seed: 2 };
      Deno.writeTextFileSync(`${path}/config.json`, JSON.stringify(config));
      const { report, findings } = triageRun(path);
      const triaged = ofBroken(session.answers, "triaged").at(-1)!;
      assertEquals([triaged.conclusion, triaged.note], [report.conclusion, report.note]);
      assertEquals(
        triaged.causes,
        report.causes.map(({ fault, score }) => ({ fault, belief: score })),
      );
      const grave = (found: readonly { class: string; id: string; sentence: string }[]) =>
        found.filter(({ class: kind }) => kind === "violated").map(({ id, sentence }) =>
          [id, sentence] as const
        );
      assertEquals(grave(triaged.findings), grave(findings.map((finding) => sayFinding(finding))));
      assertEquals(triaged.causes[0]?.fault, "mask_shift");
    }),
);

gpuTest(
  "a session answers in the order in which it is asked, stops between steps and begins again",
  async () => {
    const { send, next, answers } = listenTo({ openCommands });
    send({ kind: "open" });
    const { episodes } = await next("played");
    assertEquals(new Set(episodes.map(({ task }) => task)).size, episodes.length);
    send({ kind: "begin", settings: { ...SETTINGS, fault: undefined, steps: 3 } });
    send({ kind: "step", steps: "one" });
    send({ kind: "step", steps: "one" });
    send({ kind: "pause" });
    const { results } = await next("checked");
    assertEquals(results.filter(({ verdict }) => verdict === "violated"), []);
    await next("paused"); // Asked for before a step was begun, so that none is made.
    send({ kind: "step", steps: "one" });
    const { row, episode, tokens } = await next("stepped");
    assertEquals(row.step, 0);
    assert(tokens > 0 && episode.words.length === episode.owners.length);
    await next("triaged");
    send({ kind: "step", steps: "all" });
    send({ kind: "begin", settings: { ...SETTINGS, fault: undefined, seed: 2, steps: 1 } });
    assertEquals((await next("ready")).settings.seed, 2);
    send({ kind: "step", steps: "all" });
    const { hashes } = await next("ended");
    assertEquals(Object.keys(hashes), ["healthy"]);
    assertEquals(answers.filter(({ kind }) => kind === "ended").length, 1);
  },
);

gpuTest("a session says that the GPU is gone, and another one can be opened", async () => {
  const gpu = await openGpu();
  const opened = [new Commands(gpu), await openCommands()];
  const { send, next, answers } = listenTo({
    openCommands: () => Promise.resolve(opened.shift()!),
  });
  send({ kind: "open" });
  await next("played");
  gpu.device.destroy();
  await gpu.device.lost;
  await new Promise((resolve) => setTimeout(resolve, 0));
  const lost = answers.at(-1);
  assert(lost?.kind === "failed" && lost.reason === "lost", JSON.stringify(lost));
  const before = answers.length;
  send({ kind: "begin", settings: SETTINGS });
  send({ kind: "step", steps: "all" });
  send({ kind: "download", run: "healthy", file: "metrics" });
  send({ kind: "open" });
  while (answers.at(-1)?.kind !== "played") await new Promise((go) => setTimeout(go, 5));
  assertEquals(answers.slice(before).map(({ kind }) => kind), [
    ...["progress", "opened", "progress", "played"],
  ]);
});

gpuTest(
  "a session without a GPU says why, as does one whose settings are not allowed",
  async () => {
    const { send, answers } = listenTo({
      openCommands: () => Promise.reject(new Error("the browser finds none")),
    });
    send({ kind: "open" });
    while (answers.at(-1)?.kind !== "failed") await new Promise((go) => setTimeout(go, 1));
    assertEquals(answers.at(-1), {
      kind: "failed",
      reason: "no-webgpu",
      sentence: "Nothing can be computed here: the browser finds none.",
    });
    // The last test: a session that ends gives its device back, here the one that the others share.
    const other = listenTo({ openCommands });
    other.send({ kind: "open" });
    other.send({ kind: "begin", settings: { ...SETTINGS, seed: -1 } });
    while (other.answers.at(-1)?.kind !== "failed") await new Promise((go) => setTimeout(go, 1));
    const failed = other.answers.at(-1);
    assert(failed?.kind === "failed" && failed.reason === "mistake");
    assert(failed.sentence.includes("seed is -1"), failed.sentence);
  },
);
