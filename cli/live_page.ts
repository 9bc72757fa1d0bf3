/** The page that trains as commands write it: with the base agent of the debugging runs, and what earlier starts have kept. */
import { type FaultName, FAULTS } from "../src/faults/faults.ts";
import type { Commands } from "../src/gpu/commands.ts";
import { compileGym } from "../src/gym/compiled.ts";
import { openGym } from "../src/gym/gym.ts";
import { stderrProgress } from "../src/files/progress.ts";
import { bundledScripts } from "../src/live/files/bundle.ts";
import { requireLivePlace, writeLivePage } from "../src/live/files/write_live.ts";
import type { LiveSettings } from "../src/live/messages.ts";
import { agentOf } from "./agent.ts";
import { COMMAND_WORDS } from "./next_command.ts";

/** What the page shows first. */
export const LIVE_FAULT: FaultName = "mask_shift";

/** Steps of its runs. */
export const LIVE_STEPS = 24;

/** The folder that keeps bundled scripts and recordings: the launcher says where; undefined: none is kept. */
function keptFolder(): string | undefined {
  return Deno.env.get("AGENTRL_LIVE") || undefined;
}

/**
 * Sees to what the page needs before minutes of other work: its place, and its scripts.
 *
 * @param path The file.
 * @returns True where an earlier page stands there.
 * @throws {UserError} As `writeLivePage`.
 */
export async function prepareLive(path: string): Promise<boolean> {
  const isReplaced = requireLivePlace(path);
  await bundledScripts(keptFolder());
  return isReplaced;
}

/**
 * Writes the page.
 *
 * @param path The file.
 * @param settings With which it begins.
 * @throws {UserError} As `writeLivePage`.
 */
export async function writeLive(
  path: string,
  { commands, settings }: { readonly commands: Commands; readonly settings: LiveSettings },
): Promise<{ readonly sizeBytes: number; readonly parts: Readonly<Record<string, number>> }> {
  const base = await agentOf(undefined, { commands, gym: compileGym(openGym(), "rl") });
  const total = settings.steps * (settings.fault === undefined ? 1 : 2);
  using progress = stderrProgress({ label: "record", total, alreadyDone: 0 });
  let stepsDone = 0;
  return await writeLivePage(path, {
    commands,
    base,
    settings,
    folder: keptFolder(),
    words: COMMAND_WORDS.mention,
    onStep: () => progress.update(++stepsDone),
  });
}

/** What the broken run of the page has, as a phrase. */
export function describeFault({ fault }: LiveSettings): string {
  return fault === undefined ? "none" : `${fault}: ${FAULTS[fault].summary}`;
}
