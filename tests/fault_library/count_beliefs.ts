/**
 * Counts the numbers of src/faults/triage_beliefs.ts: in how many faults of the development half a rule speaks for its first cause,
 * and how often that is the fault or near it. Rules about invariants are counted with the verdicts of a run, the others from its
 * log alone. Usage: deno run -A tests/fault_library/count_beliefs.ts FOLDER [SEED]
 */
import { markdownTable } from "../../src/core/markdown_table.ts";
import { triage } from "../../src/diagnose/triage/triage.ts";
import { exists, namesIn } from "../../src/files/paths.ts";
import { RULES } from "../../src/faults/triage_rules.ts";
import { tinyAgentKnowledge } from "../../src/faults/tiny_agent_knowledge.ts";
import { runPaths } from "../../src/run/run_directory.ts";
import { triageInput } from "../../src/run/triage_run.ts";
import { halfOf, nearOf } from "./fault.ts";
import { PLANTED } from "./faults.ts";

const [folder = "runs/fault-library/faults", seed = "0"] = Deno.args;

/** What a rule names first. */
const firstOf = (causes: Readonly<Record<string, number>>) =>
  Object.entries(causes).sort(([, a], [, b]) => b - a)[0]?.[0] ?? "";

/** The rules that speak for a cause of a run as for their first one. */
function speakingRules(path: string, options: { readonly withChecks: boolean }) {
  const { checks, laterChecks, ...told } = triageInput(path);
  const input = options.withChecks ? { ...told, checks, laterChecks } : told;
  const { causes } = triage(input, tinyAgentKnowledge());
  return RULES.filter((rule) =>
    (rule.tier === "invariant") === options.withChecks &&
    causes.some(({ fault, evidence }) =>
      firstOf(rule.causes) === fault && evidence.some(({ symptom }) => symptom === rule.symptom)
    )
  );
}

const development = namesIn(folder).flatMap((entry) => {
  const [, name = "", ownSeed = ""] = /^(.+)-seed(\d+)$/.exec(entry) ?? [];
  const fault = PLANTED.find((planted) => planted.name === name);
  const isCounted = fault && halfOf(name) === "development" && ownSeed === seed;
  return isCounted && exists(runPaths(`${folder}/${entry}`).metrics)
    ? [{ fault, path: `${folder}/${entry}` }]
    : [];
});
const speaking = development.flatMap(({ fault, path }) =>
  [true, false].flatMap((withChecks) => speakingRules(path, { withChecks })).map((rule) => ({
    rule,
    name: fault.name,
    isRight: [...fault.named, ...nearOf(fault)].includes(firstOf(rule.causes)),
  }))
);
const rows = RULES.map((rule) => {
  const own = speaking.filter((one) => one.rule === rule);
  const names = (isRight: boolean) => own.flatMap((one) => one.isRight === isRight ? one.name : []);
  const [right, wrong] = [names(true), names(false)];
  const list = [...right, ...wrong.map((name) => `not ${name}`)].join(", ");
  return [rule.symptom, firstOf(rule.causes), String(right.length), String(wrong.length), list];
});
console.log(`${development.length} faults\n`);
console.log(markdownTable(["symptom", "cause", "right", "wrong", "faults"], rows).join("\n"));
