/** What the config.json of a run of ours tells of the adapter that computed it. */
import { basename, dirname } from "node:path";
import { isRecord } from "../core/record.ts";
import { readJson } from "./json.ts";
import { exists } from "./paths.ts";

/** The folder of the run that a file of episodes belongs to, and its step where it is that of a recorded one. */
export function placeOf(file: string): { readonly run: string; readonly step: string | undefined } {
  const folder = dirname(file);
  const isOfStep = basename(dirname(folder)) === "steps" && /^\d+$/.test(basename(folder));
  return isOfStep
    ? { run: dirname(dirname(folder)), step: basename(folder) }
    : { run: folder, step: undefined };
}

/**
 * True of a run whose adapter was found to contract products or to reassociate sums, so that its sampler and its trainer
 * may have other bits.
 *
 * @param file A file of its episodes.
 * @throws {UserError} When its config.json cannot be read.
 */
export function mayRoundApart(file: string): boolean {
  const path = `${placeOf(file).run}/config.json`;
  const content = exists(path) ? readJson(path) : undefined;
  if (!isRecord(content) || !isRecord(content.arithmetic)) return false;
  const { fma_rounds, contracts_products, reassociates_sums } = content.arithmetic;
  return fma_rounds === "unknown" || contracts_products === true || reassociates_sums === true;
}
