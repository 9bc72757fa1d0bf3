/** Reads and judges the text of a log as `agentrl triage` would, without a file. */
import type { Finding } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { readRunLog } from "../../src/files/log_source.ts";
import type { LogSettings } from "../../src/logs/run_log.ts";
import { interpret } from "../../src/producers/interpret.ts";
import type { RunView } from "../../src/producers/run_view.ts";
import type { ForeignLog } from "./writers.ts";

/** A log, read and judged. */
export interface JudgedLog {
  readonly view: RunView;
  readonly findings: readonly Finding[];
}

/**
 * Judges a log.
 *
 * @param settings What a user would add as flags.
 */
export async function judgeText(log: ForeignLog, settings: LogSettings = {}): Promise<JudgedLog> {
  const folder = Deno.makeTempDirSync();
  try {
    const path = `${folder}/${log.name}`;
    Deno.writeTextFileSync(path, log.text);
    const view = interpret(await readRunLog(path, { settings }), { settings });
    return { view, findings: judgeLog(view) };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}
