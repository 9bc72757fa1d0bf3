/** Tests of src/rl/config.ts. */
import { assertEquals, assertThrows } from "@std/assert";
import { type AlgorithmName, ALGORITHMS } from "../../src/rl/algorithms.ts";
import { UserError } from "../../src/core/errors.ts";
import { type ConfigSources, episodesPerStep, resolveConfig } from "../../src/rl/config.ts";
import { ALGORITHM_DEFAULTS, COMMON_DEFAULTS } from "../../src/rl/config_keys.ts";

Deno.test("resolveConfig() overlays the algorithm's defaults on the common ones", () => {
  for (const algorithm of Object.keys(ALGORITHMS) as AlgorithmName[]) {
    assertEquals(resolveConfig({ flags: { algorithm } }), {
      algorithm,
      aggregation: ALGORITHMS[algorithm].aggregation,
      ...COMMON_DEFAULTS,
      ...ALGORITHM_DEFAULTS[algorithm],
    });
  }
  const reinforce = resolveConfig({ flags: { algorithm: "reinforce" } });
  assertEquals([reinforce.steps, reinforce.lr, episodesPerStep(reinforce)], [80, 2e-3, 64]);
  assertEquals(episodesPerStep(resolveConfig({ sets: ["groupSize=4"] })), 32);
});

Deno.test("resolveConfig() lets a flag win over the file and --set over both", () => {
  const config = resolveConfig({
    file: {
      name: "a.json",
      text: '{"algorithm": "reinforce", "lr": 1e-4, "steps": 3, "seed": 5, "evalEvery": 2}',
    },
    flags: { steps: 4, seed: undefined, evalEvery: 3 },
    sets: [
      "evalEvery=4",
      "betas=[0.8, 0.99]",
      "klCoef=0.1",
      "klKind=k1",
      "skipZeroSignal=true",
      "normConst=null",
    ],
  });
  const { algorithm, preset, lr, steps, seed, evalEvery, betas, klKind, skipZeroSignal } = config;
  assertEquals([algorithm, preset, lr, steps, seed, evalEvery], [
    "reinforce",
    "chapter6",
    1e-4,
    4,
    5,
    4,
  ]);
  assertEquals([betas, klKind, skipZeroSignal], [[0.8, 0.99], "k1", true]);
});

Deno.test("resolveConfig() says which key is wrong, what was found and what is allowed", () => {
  const file = (text: string): ConfigSources => ({ file: { name: "a.json", text } });
  const set = (...sets: string[]): ConfigSources => ({ sets });
  const cases: readonly (readonly [ConfigSources, string])[] = [
    [file("{"), "Cannot use a.json: it is not valid JSON ("],
    [file("[1]"), "Cannot use a.json: it must hold one JSON object"],
    [file('{"lrr": 1}'), 'Cannot train: unknown key "lrr": did you mean "lr"?'],
    [file('{"lr": 1e999}'), "lr is Infinity but must be a finite number"],
    [set("steps"), "`sets` steps: it must have the form key=value"],
    [set("=3"), "`sets` =3: it must have the form"],
    [set("groupsize=4"), 'unknown key "groupsize": did you mean "groupSize"?'],
    [set("__proto__=4"), 'unknown key "__proto__"'],
    [set("lr=fast"), 'lr is "fast" but must be a finite number'],
    [set("lr=0"), "lr is 0 but must be above 0"],
    [set("steps=1.5"), "steps is 1.5 but must be an integer"],
    [set("steps=0"), "steps is 0 but must be at least 1"],
    [set("clipLow=1"), "clipLow is 1 but must be below 1"],
    [set("algorithm=grop"), 'algorithm is "grop" but must be one of reinforce, ppo, grpo'],
    [set("betas=[0.9]"), "betas is [0.9] but must be at least 2 items"],
    [set("betas=[0.9,1]"), "betas[1] is 1 but must be below 1"],
    [set("skipZeroSignal=yes"), 'skipZeroSignal is "yes" but must be a boolean'],
    [set("steps=0", "lr=0"), "steps is 0 but must be at least 1; lr is 0 but must be above 0"],
    [set("episodes=32"), "episodes has no effect under grpo"],
    [set("algorithm=reinforce", "groupSize=4"), "groupSize has no effect under reinforce"],
    [
      set("algorithm=ppo", "resampleRounds=1"),
      "resampleRounds has no effect under ppo; only grpo, drgrpo, rloo read it, and the batch of the others",
    ],
    [
      set("normConst=7"),
      "normConst has no effect with aggregation=token_mean; only aggregation=constant reads it",
    ],
    [set("klKind=k1"), "klKind has no effect with klCoef=0; only the KL term reads it"],
    [set("algorithm=reinforce", "clipLow=0.1"), "clipLow has no effect under reinforce; only ppo"],
    [set("algorithm=rloo", "clipHigh=0.1"), "clipHigh has no effect under rloo; only ppo, grpo"],
    [set("baselineDecay=0.5"), "baselineDecay has no effect under grpo; only reinforce, ppo read"],
    [
      set("algorithm=drgrpo", "advantageEps=0.1"),
      "advantageEps has no effect under drgrpo; only grpo reads it",
    ],
    [set("minibatches=16", "microbatches=5"), "16 minibatches × 5 microbatches need as many"],
  ];
  for (const [sources, sentence] of cases) {
    assertEquals(assertThrows(() => resolveConfig(sources), UserError, sentence).exitCode, 2);
  }
});

Deno.test("resolveConfig() takes a run's own configuration as a file, whatever the algorithm reads", () => {
  for (const algorithm of Object.keys(ALGORITHMS) as AlgorithmName[]) {
    const config = resolveConfig({ flags: { algorithm, seed: 3 } });
    const file = { name: "config.json", text: JSON.stringify(config) };
    assertEquals(resolveConfig({ file }), config);
    assertEquals(resolveConfig({ file, stored: config }), config);
  }
});

Deno.test("resolveConfig() takes each key where the others have it read", () => {
  const read: readonly (readonly string[])[] = [
    ["algorithm=drgrpo", "normConst=7"],
    ["aggregation=constant", "normConst=7"],
    ["klCoef=0.01", "klKind=k1"],
    ["algorithm=ppo", "clipLow=0.1", "clipHigh=0.1", "baselineDecay=0.5"],
    ["advantageEps=0"],
  ];
  for (const sets of read) {
    const config = new Map<string, unknown>(Object.entries(resolveConfig({ sets })));
    for (const [key, value] of sets.map((set) => set.split("="))) {
      assertEquals(String(config.get(key!)), value);
    }
  }
});
