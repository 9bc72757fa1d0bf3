/** When, by which commit and by which command line a run is started. */
import { fileURLToPath } from "node:url";
import { commandLine } from "../src/core/shell_words.ts";
import { commitOf } from "../src/files/commit.ts";
import type { RunStart } from "../src/run/run_settings.ts";
import { splitArguments } from "./called_as.ts";

/** This start of the program. */
export function thisStart(): RunStart {
  const { calledAs, args } = splitArguments(Deno.args);
  const root = import.meta.url.startsWith("file:")
    ? fileURLToPath(new URL("../", import.meta.url))
    : undefined;
  return {
    time: new Date().toISOString(),
    commit: root === undefined ? null : commitOf(root),
    command: `${calledAs} ${commandLine(args)}`,
  };
}
