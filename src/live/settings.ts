/** The settings of the page in the fragment of its address, so that a link shows the same. */
import type { FaultName } from "../faults/faults.ts";
import type { LiveSettings } from "./messages.ts";

/** Steps beyond which a page is the wrong place. */
export const MOST_STEPS = 500;

/** The largest training seed. */
export const MOST_SEED = 2 ** 32 - 1;

/** What is shown where a link says nothing else. */
export const LIVE_DEFAULTS = {
  fault: "mask_shift",
  seed: 0,
  steps: 24,
} as const satisfies LiveSettings;

/** What the fragment says where there is no broken run. */
export const NO_FAULT = "none";

/** A whole number within its range; the default where it is none. */
function wholeNumber(
  text: string | null,
  [least, most, otherwise]: readonly [least: number, most: number, otherwise: number],
): number {
  if (text === null || !/^\d{1,10}$/.test(text)) return otherwise;
  return Math.min(Math.max(Number(text), least), most);
}

/**
 * Reads a fragment, for example `#fault=sign_flip&seed=3`.
 *
 * @param fragment With or without its `#`. What is not understood stays at its default.
 * @param faults The faults that can be chosen.
 * @param defaults What holds where it says nothing.
 */
export function settingsOf(
  fragment: string,
  faults: readonly FaultName[],
  { fault, seed, steps }: LiveSettings = LIVE_DEFAULTS,
): LiveSettings {
  const said = new URLSearchParams(fragment.replace(/^#/, ""));
  const name = said.get("fault");
  return {
    fault: name === NO_FAULT ? undefined : faults.find((known) => known === name) ?? fault,
    seed: wholeNumber(said.get("seed"), [0, MOST_SEED, seed]),
    steps: wholeNumber(said.get("steps"), [1, MOST_STEPS, steps]),
  };
}

/** The fragment of settings, with its `#`. */
export function fragmentOf({ fault, seed, steps }: LiveSettings): string {
  const said = { fault: fault ?? NO_FAULT, seed: String(seed), steps: String(steps) };
  return `#${new URLSearchParams(said)}`;
}
