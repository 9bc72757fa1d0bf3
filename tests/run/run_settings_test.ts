/** Tests of src/run/run_settings.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { RL_BASE_SEED } from "../../src/rl/base_agent.ts";
import { resolveConfig } from "../../src/rl/config.ts";
import { readJson, writeJson } from "../../src/files/json.ts";
import {
  baseName,
  baseSource,
  readSettings,
  resumeSettings,
  writeSettings,
} from "../../src/run/run_settings.ts";
import { withFolder } from "../files/with_folder.ts";

const SETTINGS = {
  config: resolveConfig({ flags: { algorithm: "grpo", seed: 4 }, sets: ["lr=0.002"] }),
  base: { kind: "rl", seed: 3 },
  bug: null,
  baseHash: "ab",
  adapter: "a GPU",
  starts: [
    { time: "2026-01-31T12:00:00.000Z", commit: null, command: "cli/agentrl train --out 'a b'" },
  ],
} as const;

Deno.test("baseSource() takes a kind, a kind with its seed, a file, or what suits the gym", () => {
  const config = { preset: "chapter6", seed: 5 } as const;
  assertEquals(baseSource(undefined, config), { kind: "plain", seed: 5 });
  assertEquals(baseSource("untrained", config), { kind: "untrained", seed: 5 });
  assertEquals(baseSource("rl", config), { kind: "rl", seed: RL_BASE_SEED });
  assertEquals(baseSource(undefined, { preset: "rl", seed: 5 }), baseSource("rl", config));
  assertEquals(baseSource("rl:3", config), { kind: "rl", seed: 3 });
  assertEquals(baseSource("./plain", config), { file: "./plain" });
  assertEquals(["rl:3", "a/b"].map((text) => baseName(baseSource(text, config))), ["rl:3", "a/b"]);
});

Deno.test("readSettings() returns what writeSettings() wrote, and refuses what it did not", () =>
  withFolder((folder) => {
    const path = `${folder}/config.json`;
    writeSettings(path, SETTINGS);
    assertEquals(readSettings(path), SETTINGS);
    const arithmetic = {
      fmaRounds: "once",
      contractsProducts: true,
      reassociatesSums: false,
      cancelsTerms: true,
    } as const;
    writeSettings(path, { ...SETTINGS, arithmetic });
    assertEquals(readSettings(path), { ...SETTINGS, arithmetic });
    assertEquals((readJson(path) as Record<string, unknown>).arithmetic, {
      fma_rounds: "once",
      contracts_products: true,
      reassociates_sums: false,
      cancels_terms: true,
    });
    writeSettings(path, SETTINGS);
    const written = readJson(path) as Record<string, unknown>;
    // A run of an earlier version says nothing of its starts.
    const { starts: _starts, ...earlier } = written;
    writeJson(path, earlier);
    assertEquals(readSettings(path), { ...SETTINGS, starts: [] });
    const cases: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ base: { kind: "plane", seed: 0 } }, "base has none of the allowed forms"],
      [{ base_hash: 3 }, "base_hash is 3, but must be text"],
      [{ arithmetic: { fma_rounds: "thrice" } }, "arithmetic.fma_rounds is"],
      [{ config: { ...SETTINGS.config, lr: -1 } }, "lr is -1 but must be above 0"],
      [{ config: { ...SETTINGS.config, lrr: 1 } }, 'unknown key "lrr": did you mean "lr"'],
    ];
    for (const [change, sentence] of cases) {
      writeJson(path, { ...written, ...change });
      assertThrows(() => readSettings(path), UserError, sentence);
    }
  }));

Deno.test("resumeSettings() takes more steps, and refuses every other change with its key", () =>
  withFolder((path) => {
    const resume = (
      asked: { steps?: number; algorithm?: string; sets?: string[]; base?: string },
    ) => {
      const { sets = [], base, ...flags } = asked;
      return resumeSettings(SETTINGS, { sources: { flags, sets }, base, bug: undefined, path });
    };
    assertEquals(resume({}), SETTINGS);
    assertEquals(resume({ steps: 50, sets: ["lr=0.002"], base: "rl:3" }), {
      ...SETTINGS,
      config: { ...SETTINGS.config, steps: 50 },
    });
    const refused = [
      [{ sets: ["lr=0.1"] }, "lr is 0.002 in this run, but 0.1 is asked for"],
      [{ sets: ["betas=[0.9,0.99]"] }, "betas is [0.9,0.999] in this run"],
      [{ algorithm: "rloo" }, 'algorithm is "grpo" in this run'],
      [{ base: "rl:4" }, "it began with the base agent rl:3, but rl:4 is asked for"],
      [{ sets: ["lrr=1"] }, 'unknown key "lrr"'],
    ] as const;
    for (const [asked, sentence] of refused) {
      assertThrows(
        () => resume({ ...asked, sets: [...("sets" in asked ? asked.sets : [])] }),
        UserError,
        sentence,
      );
    }
    Deno.mkdirSync(`${path}/checkpoints`);
    Deno.writeTextFileSync(`${path}/checkpoints/step-20.safetensors`, "");
    assertEquals(resume({ steps: 20 }).config.steps, 20);
    assertThrows(() => resume({ steps: 19 }), UserError, "to 19 steps: it has already done 20");
  }));
