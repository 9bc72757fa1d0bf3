/** Tests of what a sweep's cells are started with: the settings of a cell, on the command line and taken apart again. */
import { assertEquals, assertThrows } from "@std/assert";
import { command as train } from "../../../cli/commands/train.ts";
import { COMMON_FLAGS, parseFlags } from "../../../cli/flags.ts";
import { rulesOf } from "../../../cli/sweep/cell_commands.ts";
import { UserError } from "../../../src/core/errors.ts";
import { resolveConfig } from "../../../src/rl/config.ts";
import type { CellSettings } from "../../../src/sweep/sweep_folder.ts";

const FOLDER = "runs/s/runs/0123456789abcdef";

Deno.test("a training's cell is started with arguments that give it exactly its configuration", async () => {
  const { argumentsOf, complete } = await rulesOf("train");
  const settings: CellSettings = {
    ...{ algorithm: "drgrpo", steps: 7, lr: 1e-4, betas: [0.8, 0.99], aggregation: "constant" },
    ...{ normConst: null, skipZeroSignal: true, base: "plain:3", bug: "mask_shift", gate: false },
  };
  const [name, ...args] = argumentsOf({ settings, seed: 5, folder: FOLDER }, false);
  assertEquals(name, "train");
  const { flags } = parseFlags(args, { ...COMMON_FLAGS, ...train.flags });
  const given = flags as Record<string, unknown>;
  assertEquals(
    [given.out, given.base, given.bug, given.gate, given.json, given.resume],
    [FOLDER, "plain:3", "mask_shift", false, true, false],
  );
  const config = resolveConfig({
    flags: { algorithm: given.algo, steps: given.steps, seed: given.seed },
    sets: given.set as string[],
  });
  const { base, bug, gate, ...planned } = complete(settings)(5);
  assertEquals<unknown>(planned, config);
  assertEquals([base, bug, gate], [{ kind: "plain", seed: 3 }, "mask_shift", false]);
  // A run that goes on has its settings.
  assertEquals(
    argumentsOf({ settings, seed: 5, folder: FOLDER }, true),
    ["train", `--out=${FOLDER}`, "--json", "--no-gate", "--resume"],
  );
});

Deno.test("cells of the other commands are started with their flags and lists", async () => {
  const args = async (name: "eval" | "faults" | "lab", settings: CellSettings) => {
    const { argumentsOf, complete } = await rulesOf(name);
    complete(settings);
    return argumentsOf({ settings, seed: 2, folder: FOLDER }, false).join(" ");
  };
  assertEquals(
    await args("eval", { checkpoint: "runs/a", split: "train", temperature: 0.5 }),
    "eval --json --checkpoint=runs/a --split=train --temperature=0.5 --seed=2",
  );
  assertEquals(
    await args("faults", { runs: ["lr_high"] }),
    `faults --out=${FOLDER} --json --seed=2 lr_high`,
  );
  assertEquals(
    await args("lab", { experiments: ["estimator"], quick: true }),
    `lab --out=${FOLDER} --json --quick --seed=2 estimator`,
  );
});

Deno.test("cells of the other commands are checked before any is begun", async () => {
  const refused = async (
    name: "eval" | "faults" | "lab",
    { settings, sentence }: { readonly settings: CellSettings; readonly sentence: string },
  ) => {
    const { complete } = await rulesOf(name);
    assertThrows(() => complete(settings), UserError, sentence);
  };
  await refused("eval", { settings: {}, sentence: "--checkpoint is required" });
  await refused("eval", {
    settings: { checkpoint: "a", split: "tset" },
    sentence: "--split must be one of train, heldout",
  });
  await refused("faults", { settings: { runs: ["lr_hihg"] }, sentence: 'did you mean "lr_high"' });
  await refused("faults", {
    settings: { runs: [3] },
    sentence: "runs holds 3, but must hold names",
  });
  await refused("lab", { settings: { experiments: "estimatr" }, sentence: "estimatr" });
  await refused("lab", {
    settings: { quick: 1 },
    sentence: "quick is 1, but must be true or false",
  });
});
