/** The recording of a page, made on this machine's GPU once for the sources and the agent as they are. */
import { createHash } from "node:crypto";
import { isRecord } from "../../core/record.ts";
import type { Recording } from "../messages.ts";
import { type RecordOptions, recordSession } from "../record.ts";
import { WORKER_ENTRY } from "./bundle.ts";
import { keptOrMade } from "./kept.ts";
import { sourceHash } from "./source_hash.ts";

/** Checked by its keys alone: a file of ours, found by the hash of what made it. */
function isRecording(value: unknown): value is Recording {
  return isRecord(value) && isRecord(value.adapter) && isRecord(value.settings) &&
    Array.isArray(value.answers);
}

/**
 * The recording.
 *
 * @param folder Where it is kept; undefined: nowhere.
 * @throws {Error} When the session fails.
 */
export function keptRecording(
  folder: string | undefined,
  options: RecordOptions,
): Promise<Recording> {
  const { commands: { gpu: { adapter } }, base, settings, config = {} } = options;
  const hash = createHash("sha256").update(sourceHash([WORKER_ENTRY])).update(base)
    .update(JSON.stringify([adapter.description, settings, config])).digest("hex");
  return keptOrMade({ folder, name: "recording", hash }, {
    isWhole: isRecording,
    make: () => recordSession(options),
  });
}
