/** Tests of src/run/agent_file.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { findCheckpoint } from "../../src/run/agent_file.ts";
import { openRunDirectory, runPaths } from "../../src/run/run_directory.ts";
import { writeSettings } from "../../src/run/run_settings.ts";
import { withFolder } from "../files/with_folder.ts";
import { smallSettings } from "./small_run.ts";

Deno.test("findCheckpoint() takes a file as it is, and of a run's folder the latest checkpoint with its gym", () =>
  withFolder((folder) => {
    const run = `${folder}/run`;
    openRunDirectory(run, { resume: false })[Symbol.dispose]();
    const config = resolveConfig({ flags: { algorithm: "reinforce" } });
    writeSettings(runPaths(run).config, { ...smallSettings(4), config });
    for (const step of [0, 8, 24]) {
      Deno.writeTextFileSync(`${run}/checkpoints/step-${step}.safetensors`, "");
    }
    const latest = { path: `${run}/checkpoints/step-24.safetensors`, preset: "chapter6" } as const;
    assertEquals(findCheckpoint(run), latest);
    assertEquals(findCheckpoint(`${run}//`), latest);
    assertEquals(findCheckpoint(latest.path), latest);
    const early = `${run}/checkpoints/step-8.safetensors`;
    assertEquals(findCheckpoint(early), { path: early, preset: "chapter6" });
    const elsewhere = `${folder}/step-8.safetensors`;
    assertEquals(findCheckpoint(elsewhere), { path: elsewhere, preset: undefined });
    for (const empty of [folder, `${run}/checkpoints`]) {
      assertThrows(() => findCheckpoint(empty), UserError, "has no checkpoints/step-N.safetensors");
    }
  }));
