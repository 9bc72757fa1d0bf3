/** Tests of src/run/run_directory.ts. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import {
  checkpointPath,
  checkpointSteps,
  openRunDirectory,
  runPaths,
} from "../../src/run/run_directory.ts";
import { readJson, writeJson } from "../../src/files/json.ts";
import { withFolder } from "../files/with_folder.ts";

Deno.test("openRunDirectory() makes the layout and refuses a second writer until it is disposed of", () =>
  withFolder((folder) => {
    const path = `${folder}/runs/a b`;
    {
      using run = openRunDirectory(path, { resume: false });
      writeJson(run.config, { seed: 1 });
      for (const resume of [false, true]) {
        assertThrows(() => openRunDirectory(path, { resume }), UserError, "another process");
      }
    }
    assert(Deno.statSync(`${path}/checkpoints`).isDirectory);
    using run = openRunDirectory(path, { resume: true });
    assertEquals(readJson(run.config), { seed: 1 });
  }));

Deno.test("openRunDirectory() refuses to start over a run and to resume nothing", () =>
  withFolder((folder) => {
    assertThrows(
      () => openRunDirectory(`${folder}/a`, { resume: true }),
      UserError,
      "there is no run",
    );
    assertEquals(Array.from(Deno.readDirSync(folder)), []);
    writeJson(`${folder}/config.json`, {});
    const start = () => openRunDirectory(folder, { resume: false });
    assertThrows(start, UserError, "already holds config.json");
    openRunDirectory(folder, { resume: true })[Symbol.dispose](); // The refusal released the lock.
    assertThrows(
      () => openRunDirectory(`${folder}/config.json`, { resume: false }),
      UserError,
      `Cannot write to ${folder}/config.json`,
    );
  }));

Deno.test("openRunDirectory() takes over the lock when its process was killed, and what it left half-written", () =>
  withFolder(async (folder) => {
    const module = import.meta.resolve("../../src/run/run_directory.ts");
    const code = `import { openRunDirectory } from ${JSON.stringify(module)};
      using run = openRunDirectory(${JSON.stringify(folder)}, { resume: false });
      Deno.writeTextFileSync(run.config + "." + crypto.randomUUID() + ".tmp", "half");
      console.log("locked");
      await new Promise((done) => setTimeout(done, 60_000));`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", "--no-lock", code],
      stdout: "piped",
    }).spawn();
    const reader = child.stdout.getReader();
    await reader.read();
    assertThrows(() => openRunDirectory(folder, { resume: false }), UserError, "another process");
    child.kill("SIGKILL");
    await child.status;
    await reader.cancel();
    using _run = openRunDirectory(folder, { resume: false });
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name).sort(), [
      "checkpoints",
      "lock",
      "steps",
    ]);
  }));

Deno.test("checkpointSteps() lists whole checkpoints in the order of their numbers", () =>
  withFolder((folder) => {
    assertEquals(checkpointSteps(`${folder}/no`), []);
    openRunDirectory(folder, { resume: false })[Symbol.dispose]();
    for (const step of [10, 9, 0]) Deno.writeTextFileSync(checkpointPath(folder, step), "");
    Deno.writeTextFileSync(`${checkpointPath(folder, 11)}.x.tmp`, "");
    assertEquals(checkpointSteps(folder), [0, 9, 10]);
    assertEquals(runPaths(folder).metrics, `${folder}/metrics.jsonl`);
  }));

Deno.test("readJson() says what the file is when it is not valid JSON", () =>
  withFolder((folder) => {
    Deno.writeTextFileSync(`${folder}/a`, "{");
    assertThrows(() => readJson(`${folder}/a`), UserError, "it is not valid JSON");
    assertThrows(() => readJson(`${folder}/b`), UserError, "no such file");
  }));
