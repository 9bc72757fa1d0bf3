/** The live page against the same session in Deno: what its broken run earns, and the weights that it ends with. */
import { hashWeights } from "../../src/model/parameters.ts";
import { readCheckpoint } from "../../src/run/checkpoint.ts";
import { readMetricsRows } from "../../src/run/metrics_rows.ts";
import { withBrowser } from "../e2e/browser.ts";
import { withFolder } from "../files/with_folder.ts";
import { trainInPage, writePage } from "../live/live_page.ts";
import type { Crossings } from "./compare.ts";

/** Its broken run. */
export interface LiveTraining {
  readonly rewards: readonly number[];
  /** The first eight digits, after the last step. */
  readonly weightsHash: string;
}

/** In a process of its own, on a driver. @param driverFile Default: what the machine has. */
export async function liveInDeno(driverFile?: string): Promise<LiveTraining> {
  const program = new URL("live_in_deno.ts", import.meta.url).pathname;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "-A", program],
    env: driverFile === undefined ? {} : { VK_DRIVER_FILES: driverFile },
  }).output();
  if (code !== 0) throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** In the page, as a visitor would: started by its button, and read from its downloads. */
export async function liveInBrowser(): Promise<LiveTraining> {
  const found = Promise.withResolvers<LiveTraining>();
  await withFolder(async (folder) => {
    const path = `${folder}/live.html`;
    await writePage(path);
    await withBrowser(async (browser) => {
      const { metrics, checkpoint } = await trainInPage(browser, { path, folder });
      const { weights_W } = readCheckpoint(checkpoint);
      found.resolve({
        rewards: readMetricsRows(metrics).map(({ reward }) => reward),
        weightsHash: (await hashWeights(weights_W)).slice(0, 8),
      });
    }, { webGpu: true });
  });
  return await found.promise;
}

/** What is amiss: rewards are equal everywhere, weights between compilers. */
export function liveFaults(
  { machine, otherDriver, otherCompiler }: Crossings<LiveTraining>,
): string[] {
  const faults: string[] = [];
  const rewards = [machine, otherDriver, otherCompiler].map((one) => one.rewards.join());
  if (new Set(rewards).size !== 1) faults.push("the live page's rewards differ");
  if (otherDriver.weightsHash !== otherCompiler.weightsHash) {
    faults.push("two compilers differ: weights of the live page's broken run");
  }
  return faults;
}
