/** Tests of a sweep's folder: what is written is read back, and a damaged plan is refused. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { readSweep, writeSweep } from "../../src/sweep/sweep_folder.ts";
import { isSweepFolder, sweepPaths } from "../../src/sweep/sweep_paths.ts";
import { withFolder } from "../files/with_folder.ts";

const PLAN = {
  name: "clip",
  command: "train",
  file: "clip.yaml",
  settings: { steps: 4, lr: 0.01 },
  axes: ["lr", "betas"],
  conditions: { healthy: {}, broken: { bug: "mask_shift", steps: 5 } },
  cells: [
    {
      id: "0123456789abcdef",
      seed: 0,
      condition: "healthy",
      values: { lr: 0.1, betas: [0.9, 0.99] },
    },
    {
      id: "fedcba9876543210",
      seed: 7,
      condition: "broken",
      values: { lr: 0.2, betas: [0.8, 0.9] },
    },
  ],
} as const;

Deno.test("readSweep() gives each cell its settings, its condition's over its values over the shared ones", () =>
  withFolder((path) => {
    assertEquals(isSweepFolder(path), false);
    writeSweep(path, PLAN);
    const { cells, ...sweep } = readSweep(path);
    const { cells: _, ...shared } = PLAN;
    assertEquals<unknown>(sweep, { ...shared, path });
    assertEquals(isSweepFolder(path), true);
    assertEquals([sweepPaths(path).plan, `${path}/nowhere`].map(isSweepFolder), [false, false]);
    assertEquals(
      cells.map(({ settings, folder, command, seed }) => [settings, folder, command, seed]),
      [
        [{ steps: 4, lr: 0.1, betas: [0.9, 0.99] }, `${path}/runs/0123456789abcdef`, "train", 0],
        [
          { steps: 5, lr: 0.2, betas: [0.8, 0.9], bug: "mask_shift" },
          `${path}/runs/fedcba9876543210`,
          "train",
          7,
        ],
      ],
    );
  }));

Deno.test("readSweep() refuses a plan that is damaged or names a condition that it lacks", () =>
  withFolder((path) => {
    writeSweep(path, { ...PLAN, conditions: { healthy: {} } });
    assertThrows(() => readSweep(path), UserError, 'the condition "broken", which is not among');
    writeSweep(path, { ...PLAN, cells: [{ ...PLAN.cells[0], id: "../../etc" }] });
    assertThrows(() => readSweep(path), UserError, "cells.0.id");
    const { plan } = sweepPaths(path);
    Deno.truncateSync(plan, 40);
    assertThrows(() => readSweep(path), UserError, "is not valid JSON");
    Deno.removeSync(plan);
    assertThrows(() => readSweep(path), UserError, "there is no such file");
  }));
