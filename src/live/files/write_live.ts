/** Writes the page that trains: its scripts, a base agent and a recording in one file. */
import denoConfig from "../../../deno.json" with { type: "json" };
import type { MentionWords } from "../../core/mention.ts";
import { writeFileAtomic } from "../../files/atomic_file.ts";
import type { Commands } from "../../gpu/commands.ts";
import { type Checkpoint, checkpointFile } from "../../model/checkpoint.ts";
import { serializeSafetensors } from "../../model/safetensors.ts";
import { readChartJs } from "../../report/files/chart_js.ts";
import { LIVE_PAGE, requireReportPlace } from "../../report/files/write_report.ts";
import type { TrainConfig } from "../../rl/config_keys.ts";
import type { LiveSettings } from "../messages.ts";
import { liveDocument } from "../page.ts";
import { bundledScripts } from "./bundle.ts";
import { keptRecording } from "./recording.ts";

/**
 * Refuses to replace a file that is no live page.
 *
 * @param path Where one should go.
 * @returns True where an earlier one stands there.
 * @throws {UserError} When another file stands there, or it cannot be read.
 */
export function requireLivePlace(path: string): boolean {
  return requireReportPlace(path, LIVE_PAGE);
}

/** What a page is made of. */
export interface LivePageOptions {
  /** The device on which the recording is made, where none is kept. */
  readonly commands: Commands;
  /** The agent that both runs begin with. */
  readonly base: Pick<Checkpoint, "config" | "weights_W">;
  /** Those of the recording, with which the page begins. */
  readonly settings: LiveSettings;
  /** Settings of both runs beside those of the catalogue. */
  readonly config?: Partial<TrainConfig> | undefined;
  /** Where bundled scripts and recordings are kept; undefined: nowhere. */
  readonly folder: string | undefined;
  /** Says what sentences mention. */
  readonly words: MentionWords;
  /** Called after each step of a run that is recorded. */
  readonly onStep?: () => void;
}

/**
 * Writes the page, whole or not at all; an earlier page is replaced.
 *
 * @param path The file.
 * @returns Its size in bytes, and those of its parts.
 * @throws {UserError} When another file stands there, it cannot be written, or its scripts cannot be bundled.
 */
export async function writeLivePage(
  path: string,
  options: LivePageOptions,
): Promise<{ readonly sizeBytes: number; readonly parts: Readonly<Record<string, number>> }> {
  requireLivePlace(path);
  const { commands, base: { config: model, weights_W }, settings, config, folder } = options;
  // What may be missing comes first, and the work after it.
  const scripts = { chartJs: readChartJs(), ...await bundledScripts(folder) };
  const base = serializeSafetensors(checkpointFile({ config: model, weights_W, step: 0 }));
  const { onStep } = options;
  const recording = await keptRecording(folder, {
    commands,
    base,
    settings,
    config,
    ...(onStep && { onStep }),
  });
  const data = {
    version: denoConfig.version,
    base: base.toBase64(),
    recording,
    ...(config && { config }),
  };
  const { words } = options;
  const bytes = new TextEncoder().encode(await liveDocument({ data, scripts, words }));
  writeFileAtomic(path, bytes);
  return {
    sizeBytes: bytes.length,
    parts: {
      chartJs: scripts.chartJs.length,
      page: scripts.page.length,
      worker: scripts.worker.length,
      base: data.base.length,
      recording: JSON.stringify(recording).length,
    },
  };
}
