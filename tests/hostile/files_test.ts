/** Tests of commands whose paths lead to what is not an input, or to an input: refused before it is read, and never replaced. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { isLink, namesIn } from "../../src/files/paths.ts";
import { writeSettings } from "../../src/run/run_settings.ts";
import { withFolder } from "../files/with_folder.ts";
import { agentrl, assertRefused, golden } from "../e2e/command_line.ts";

import { SETTINGS } from "./small_record.ts";

const UUID = "01234567-89ab-cdef-0123-456789abcdef";

const MODEL = golden("model.safetensors");
const BATCH = golden("batch.safetensors");

/** The commands that read a file of ours, given its path; tests/files looks at logs of any kind. */
const READERS: readonly ((path: string, folder: string) => string[])[] = [
  (path, folder) => ["train", "--config", path, "--out", `${folder}/run`],
  (path, folder) => ["train", "--base", path, "--out", `${folder}/run`],
  (path, folder) => ["score", "--checkpoint", path, "--batch", BATCH, "--out", `${folder}/o`],
  (path, folder) => [
    ...["grad", "--checkpoint", MODEL, "--batch", path, "--out", `${folder}/o`],
    ...["--loss", "reinforce_token_mean"],
  ],
  (path) => ["eval", "--checkpoint", path, "--preset", "rl"],
];

Deno.test("commands refuse pipes, devices, folders and files of gigabytes before they read them", () =>
  withFolder(async (folder) => {
    const pipe = `${folder}/pipe.jsonl`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    const sparse = `${folder}/sparse.jsonl`;
    Deno.writeTextFileSync(sparse, "");
    Deno.truncateSync(sparse, 4e9);
    const cases: readonly (readonly [string, RegExp])[] = [
      [pipe, /it is a named pipe, but must be a regular file/],
      ["/dev/zero", /it is a device, but must be a regular file|without the permission/],
      [sparse, /it holds 4\.0 GB; at most|not a safetensors file/],
    ];
    for (const [path, sentence] of cases) {
      const before = namesIn(folder);
      const results = await Promise.all(READERS.map((reader) => agentrl(reader(path, folder))));
      results.forEach((result) => assertRefused(result, { code: 2, sentence }));
      assertEquals(namesIn(folder), before, "nothing was written");
    }
    for (
      const args of [["triage", ""], ["report", ""], ["eval", "--preset", "rl", "--checkpoint="]]
    ) {
      assertRefused(await agentrl(args), { code: 2, sentence: /is empty|needs a value/ });
    }
    Deno.mkdirSync(`${folder}/run`);
    Deno.writeTextFileSync(`${folder}/run/metrics.jsonl`, '{"step":0,"reward":1}\n');
    Deno.writeTextFileSync(`${folder}/run/steps`, "");
    writeSettings(`${folder}/run/config.json`, SETTINGS);
    const report = await agentrl(["report", `${folder}/run`, "--out", `${folder}/r.html`]);
    assertRefused(report, { code: 2, sentence: /Cannot read .*steps: / });
    Deno.writeTextFileSync(`${folder}/empty.jsonl`, "");
    const empty = await agentrl(["report", `${folder}/empty.jsonl`, "--out", `${folder}/r.html`]);
    assertRefused(empty, { code: 2, sentence: /it holds no row|it is empty/ });
  }));

Deno.test("no command writes its result over what it reads, whatever the path is called", () =>
  withFolder(async (folder) => {
    const model = `${folder}/model.safetensors`;
    const batch = `${folder}/batch.safetensors`;
    Deno.copyFileSync(MODEL, model);
    Deno.copyFileSync(BATCH, batch);
    const run = `${folder}/run`;
    Deno.mkdirSync(run);
    const metrics = `${run}/metrics.jsonl`;
    Deno.writeTextFileSync(metrics, '{"step":0,"reward":1}\n');
    const log = `${run}/train.log`;
    Deno.writeTextFileSync(log, "step 1 loss 2\n");
    const catalogue = `${folder}/catalogue`;
    Deno.mkdirSync(catalogue);
    Deno.linkSync(model, `${catalogue}/summary.json`);
    Deno.symlinkSync(metrics, `${folder}/link`);
    Deno.linkSync(metrics, `${folder}/hard`);
    Deno.linkSync(batch, `${folder}/hard-batch`);
    const score = ["score", "--checkpoint", model, "--batch", batch];
    const grad = [
      "grad",
      "--checkpoint",
      model,
      "--batch",
      batch,
      "--loss",
      "reinforce_token_mean",
    ];
    const commands = [
      ...[model, batch, `${folder}/hard-batch`, `${folder}/./run/../model.safetensors`]
        .flatMap((out) => [[...score, "--out", out], [...grad, "--out", out]]),
      ["report", run, "--out", log],
      ["report", `${folder}/hard`, "--against", log, "--out", log],
      ["faults", "healthy", "--checkpoint", `${catalogue}/summary.json`, "--out", catalogue],
      ...[metrics, `${folder}/link`, `${folder}/hard`].flatMap((out) => [
        ["report", run, "--out", out],
        ["report", metrics, "--out", out],
      ]),
    ];
    const contents = () =>
      [model, batch, metrics, log, `${folder}/hard`].map((path) => Deno.readFileSync(path).join());
    const before = contents();
    for (const args of commands) {
      const sentence = /Cannot write .*: it is .*, which this command reads; choose another file/;
      assertRefused(await agentrl(args), { code: 2, sentence });
    }
    assertEquals(contents(), before);
    assert(isLink(`${folder}/link`));
    const device = await agentrl(["report", run, "--out", "/dev/null"]);
    assertRefused(device, { code: 2, sentence: /Cannot write \/dev\/null/ });
    assert(Deno.statSync("/dev/null").isCharDevice);
    const page = await agentrl(["report", run, "--out", `${run}/page.html`]);
    assertEquals(page.code, 0, page.stderr);
    const again = await agentrl(["report", run, "--out", `${run}/page.html`]);
    assertEquals(again.code, 0, "an earlier report is not an input");
  }));

Deno.test("agentrl train removes nothing but what its own killed writers left, and enters no link", () =>
  withFolder(async (folder) => {
    const start = (path: string, ...more: string[]) =>
      agentrl([
        ...["train", "--base", MODEL, "--no-gate", "--set", "problems=2", "--set", "groupSize=2"],
        ...["--set", "evalEvery=0", "--steps", "1", "--out", path, ...more],
      ]);
    const inUse: readonly (readonly [string, string])[] = [
      ["thesis.tmp", "thesis.tmp"],
      [`thesis.${UUID}.tmp`, `thesis.${UUID}.tmp`],
      ["checkpoints/thesis.tmp", "checkpoints/thesis.tmp"],
      ["checkpoints/step-0.safetensors", "checkpoints/step-0.safetensors"],
    ];
    for (const [i, [name, found]] of inUse.entries()) {
      const path = `${folder}/used-${i}`;
      Deno.mkdirSync(`${path}/checkpoints`, { recursive: true });
      Deno.writeTextFileSync(`${path}/${name}`, "x");
      const result = await start(path);
      assertRefused(result, { code: 2, sentence: /it already holds / });
      assert(result.stderr.includes(found), result.stderr);
      assertEquals(Deno.readTextFileSync(`${path}/${name}`), "x");
    }

    const path = `${folder}/run`;
    Deno.mkdirSync(path);
    Deno.writeTextFileSync(`${path}/config.json.${UUID}.tmp`, "half");
    const first = await start(path, "--set", "recordEvery=1");
    assertEquals(first.code, 0, first.stderr);
    const outside = `${folder}/outside`;
    Deno.mkdirSync(outside);
    Deno.writeTextFileSync(`${outside}/step-1.safetensors.${UUID}.tmp`, "x");
    for (const name of Deno.readDirSync(`${path}/checkpoints`)) {
      Deno.renameSync(`${path}/checkpoints/${name.name}`, `${outside}/${name.name}`);
    }
    Deno.removeSync(`${path}/checkpoints`);
    Deno.symlinkSync(outside, `${path}/checkpoints`);
    Deno.writeTextFileSync(`${path}/steps/0/state.safetensors.${UUID}.tmp`, "half");
    Deno.writeTextFileSync(`${path}/steps/0/thesis.tmp`, "x");
    const resumed = await agentrl(["train", "--out", path, "--resume"]);
    assertEquals(resumed.code, 0, resumed.stderr);
    assertEquals(namesIn(outside).filter((name) => name.endsWith(".tmp")).length, 1);
    assertEquals(namesIn(`${path}/steps/0`).filter((name) => name.endsWith(".tmp")), [
      "thesis.tmp",
    ]);

    const victim = `${folder}/victim`;
    Deno.writeTextFileSync(victim, "mine\n");
    Deno.removeSync(`${path}/metrics.jsonl`);
    Deno.symlinkSync(victim, `${path}/metrics.jsonl`);
    const linked = await agentrl(["train", "--out", path, "--resume", "--steps", "2"]);
    assertRefused(linked, { code: 2, sentence: /it is a link to another file/ });
    assertEquals(Deno.readTextFileSync(victim), "mine\n");
    assertMatch(first.stdout, /steps +1 of 1/);
  }));
