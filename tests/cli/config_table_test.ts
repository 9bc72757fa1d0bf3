/** Tests of cli/config_table.ts. */
import { assert, assertEquals } from "@std/assert";
import { describeKeys, keyRow } from "../../cli/config_table.ts";
import { type AlgorithmName, ALGORITHMS } from "../../src/rl/algorithms.ts";
import { resolveConfig } from "../../src/rl/config.ts";

const KEYS = describeKeys();

Deno.test("describeKeys() has every key of a configuration, with the defaults that a run takes", () => {
  for (const algorithm of Object.keys(ALGORITHMS) as AlgorithmName[]) {
    const { algorithm: _own, ...resolved } = resolveConfig({ flags: { algorithm } });
    const told = Object.fromEntries(KEYS.map(({ key, defaults }) => [key, defaults[algorithm]]));
    assertEquals(told, { algorithm: "grpo", ...resolved });
  }
});

Deno.test("describeKeys() names as readers the algorithms that take a key, and refuses it elsewhere", () => {
  let refused = 0;
  for (const { key, range, readBy } of KEYS) {
    if (readBy.length === Object.keys(ALGORITHMS).length) continue;
    for (const algorithm of Object.keys(ALGORITHMS) as AlgorithmName[]) {
      const value = range.startsWith("an integer") ? 3 : 0.5;
      let isTaken = true;
      try {
        resolveConfig({ flags: { algorithm, minibatches: 1, [key]: value } });
      } catch {
        isTaken = false;
        refused++;
      }
      assertEquals(isTaken, readBy.includes(algorithm), `${key} under ${algorithm}`);
    }
  }
  assert(refused > 10);
});

Deno.test("keyRow() says what a key may hold, its defaults and who reads it", () => {
  const rows = new Map(KEYS.map(keyRow));
  const cases: readonly (readonly [string, string])[] = [
    ["lr", "(a number above 0 and at most 10; default 0.001, under reinforce 0.002)"],
    ["clipLow", "(a number from 0 to below 1; default 0.2; read by ppo, grpo, drgrpo)"],
    ["advantageEps", "(a number from 0 to 1; default 0.000001; read by grpo)"],
    ["normConst", "(a number above 0, or null; default null; read with aggregation=constant)"],
    ["klKind", "(k1 | k2 | k3; default k3; read with klCoef above 0)"],
    ["betas", "(a list of 2, each a number from 0 to below 1; default [0.9,0.999])"],
    ["maxGradNorm", "(a number above 0; default 1)"],
    ["skipZeroSignal", "(true | false; default false)"],
    ["groupSize", "(an integer from 2 to 4096; default 8; read by grpo, drgrpo, rloo)"],
  ];
  for (const [key, end] of cases) {
    const text = rows.get(key) ?? "";
    assertEquals(text.slice(text.lastIndexOf(" (") + 1), end, key);
  }
});

Deno.test("TrainConfig says of each key in its documentation what `agentrl config` says", () => {
  const source = Deno.readTextFileSync(new URL("../../src/rl/config_keys.ts", import.meta.url));
  const [declaration = ""] = source.slice(source.indexOf("interface TrainConfig")).split("\n}\n");
  const documented = declaration.matchAll(/\/\*\* ([^\n]+)\. \*\/\n {2}readonly (\w+): /g);
  const lowered = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);
  assertEquals(
    Array.from(documented, ([, meaning = "", key = ""]) => [key, lowered(meaning)]),
    KEYS.map(({ key, meaning }) => [key, lowered(meaning)]),
  );
});
