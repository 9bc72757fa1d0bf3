/** What is added where: the files and lines of one new log format, form of token dumps, invariant, metric, fault, objective, environment and page. */

/** Text that goes into a file before or after a line of its own; the line must stand there exactly once. */
export type Insertion =
  & { readonly path: string; readonly insert: readonly string[] }
  & ({ readonly after: string } | { readonly before: string });

/** How one thing is added. */
export interface Recipe {
  readonly title: string;
  /** What it is, and what holds it together. */
  readonly says: string;
  /** New files: the example beside this file, and where it goes. */
  readonly files: readonly { readonly example: string; readonly path: string }[];
  readonly lines: readonly Insertion[];
  /** How one sees that it works. */
  readonly shows: string;
  /** What the suite asks for beyond that. */
  readonly then: string;
}

/** The recipes, in the order of the page. */
export const RECIPES = {
  logFormat: {
    title: "A log format",
    says: "A reader says how surely the first bytes of a file are its own, and adds rows of " +
      "numbers by step; what the keys mean is a producer's matter (`src/producers/`, likewise a " +
      "file and a line). Console logs need only say what a line is.",
    files: [{ example: "logfmt.ts", path: "src/logs/logfmt.ts" }],
    lines: [
      {
        path: "src/logs/readers.ts",
        after: 'import { JSONL } from "./jsonl.ts";',
        insert: ['import { LOGFMT } from "./logfmt.ts";'],
      },
      { path: "src/logs/readers.ts", after: "  HF_CONSOLE,", insert: ["  LOGFMT,"] },
    ],
    shows: "`cli/agentrl triage run.log` reads and judges such a log, and `formats` lists it.",
    then: "a test with a real log in `tests/logs/`.",
  },
  tokenDump: {
    title: "A form of token dumps",
    says:
      "A reader says how surely the first bytes of a file are its own, and yields one sequence " +
      "after the other, so that a dump of any size can pass through. It settles what its writer " +
      "does otherwise (fillers, padding, packing, shifts), and a field that is damaged names " +
      "itself, its row and its file.",
    files: [{ example: "labelled_dump.ts", path: "src/tokens/labelled_dump.ts" }],
    lines: [
      {
        path: "src/tokens/token_readers.ts",
        after: 'import { COMMON_DUMP } from "./common_dump.ts";',
        insert: ['import { LABELLED_DUMP } from "./labelled_dump.ts";'],
      },
      {
        path: "src/tokens/token_readers.ts",
        after: "  COMMON_DUMP,",
        insert: ["  LABELLED_DUMP,"],
      },
    ],
    shows: "`cli/agentrl check --tokens DUMP` and `triage DUMP` judge such a dump, and `formats` " +
      "lists it.",
    then: "its row in `docs/formats.md`, a dump of it in `tests/tokens/damage_test.ts`, and each " +
      "trap of the form in a test of its own.",
  },
  invariant: {
    title: "An invariant",
    says:
      "An identity that every correct trainer keeps before any training: it measures a number " +
      "from what the trainer answers, and says which bound it must keep and why. A `key` that is " +
      "never given away again names it in findings and rules.",
    files: [{ example: "equal_rewards.ts", path: "src/diagnose/equal_rewards.ts" }],
    lines: [
      {
        path: "src/diagnose/invariant_list.ts",
        before: 'import type { Invariant } from "./invariant.ts";',
        insert: ['import { EQUAL_REWARDS } from "./equal_rewards.ts";'],
      },
      {
        path: "src/diagnose/invariant_list.ts",
        before: "];",
        insert: ["  EQUAL_REWARDS,"],
      },
    ],
    shows: "`checkInvariants` judges a trainer in memory by it ([program]" +
      "(examples/extending/shows_invariant.ts)); the checks of every run and of `cli/agentrl check` list it.",
    then: "a trainer in `tests/diagnose/` that violates it and one that does not, and its column " +
      "in the matrix (`tests/faults/trainer_checks_test.ts`).",
  },
  metric: {
    title: "A metric",
    says:
      "Three entries, and the type checker asks for the others where one is missing: the field " +
      "of a row, its value, and what the dictionary says of it. They stay apart because rows are " +
      "a file format with a public type, and the dictionary is prose.",
    files: [{ example: "reward_std.ts", path: "src/rl/reward_std.ts" }],
    lines: [
      {
        path: "src/rl/metrics.ts",
        before: 'import type { TrainBatch } from "./train_batch.ts";',
        insert: ['import { rewardStd } from "./reward_std.ts";'],
      },
      {
        path: "src/rl/metrics.ts",
        after: "  readonly reward: number;",
        insert: [
          "  /** Sample standard deviation of the rewards. */",
          "  readonly reward_std: number;",
        ],
      },
      {
        path: "src/rl/metrics.ts",
        after: "    reward: mean(rewards_B),",
        insert: ["    reward_std: rewardStd(rewards_B),"],
      },
      {
        path: "src/rl/metric_dictionary.ts",
        before: "  pass_rate: {",
        insert: [
          "  reward_std: {",
          '    group: "outcome",',
          '    formula: "sample standard deviation of the step\'s rewards",',
          '    unit: "reward",',
          '    flags: "0: every episode earned the same, and nothing is learned",',
          "  },",
        ],
      },
    ],
    shows: "A run writes it in each row of `metrics.jsonl`; `cli/agentrl metrics` explains it.",
    then: "a healthy range: the pinned runs again (`cli/agentrl faults healthy`, then " +
      "`triage --measure`), without which it says so.",
  },
  fault: {
    title: "A fault",
    says:
      "A stage of the healthy trainer replaced, or a setting. It needs a name, a record, what " +
      "rules it out, and how to look further.",
    files: [{ example: "only_winners.ts", path: "src/faults/only_winners.ts" }],
    lines: [
      {
        path: "src/faults/faults.ts",
        after: 'import { type Fault, replay } from "./fault.ts";',
        insert: ['import { ONLY_WINNERS } from "./only_winners.ts";'],
      },
      { path: "src/faults/faults.ts", after: '  "denominator",', insert: ['  "only_winners",'] },
      {
        path: "src/faults/faults.ts",
        before: "  lr_high: {",
        insert: ["  only_winners: ONLY_WINNERS,"],
      },
    ],
    shows: "`cli/agentrl train --bug only_winners --no-gate` trains with it.",
    then:
      "a rule in `src/faults/triage_check_rules.ts` that points to it, and the check that catches it " +
      "in `tests/faults/trainer_checks_test.ts`; a run in `src/faults/catalogue.ts` and a " +
      "signature, if it is to be in the catalogue.",
  },
  objective: {
    title: "An objective",
    says: "A record of an advantage, a surrogate and an aggregation. Defaults of its own are an " +
      "entry in `ALGORITHM_DEFAULTS`, and only where it has some. A surrogate that does not exist " +
      "yet is more: an equation in `src/equations/policy_loss.ts` and its branch in " +
      "`shaders/policy_loss.wgsl`, held to each other by tests.",
    files: [{ example: "rloo_clip.ts", path: "src/rl/rloo_clip.ts" }],
    lines: [
      {
        path: "src/rl/algorithms.ts",
        after: 'import { type Algorithm, grouped } from "./algorithm.ts";',
        insert: ['import { RLOO_CLIP } from "./rloo_clip.ts";'],
      },
      {
        path: "src/rl/algorithms.ts",
        after: "  rloo: RLOO,",
        insert: ["  rloo_clip: RLOO_CLIP,"],
      },
    ],
    shows: "`resolveConfig` takes it, and its loss has the weights of its aggregation ([program]" +
      "(examples/extending/shows_objective.ts)); `cli/agentrl train --algo rloo_clip` trains.",
    then: "its advantages by hand in `tests/rl/algorithms_test.ts`.",
  },
  environment: {
    title: "An environment",
    says: "A module of yours with a definition and a class of five members over token ids: " +
      "nothing here is changed. Three Doors is " +
      "[examples/three_doors.ts](examples/three_doors.ts); [environments.md](environments.md) " +
      "trains it.",
    files: [],
    lines: [],
    shows: "An episode played by hand ([program](examples/extending/shows_environment.ts)).",
    then: "nothing.",
  },
  page: {
    title: "A page of the report",
    says: "A function of data that answers a section: the table of contents, the style and the " +
      "content security policy come from the document. Reading files stands apart, in " +
      "`src/report/files/`.",
    files: [{ example: "extent_page.ts", path: "src/report/extent_page.ts" }],
    lines: [
      {
        path: "src/report/report.ts",
        after: 'import { buildDocument, type Section } from "./document.ts";',
        insert: ['import { extentPage } from "./extent_page.ts";'],
      },
      {
        path: "src/report/report.ts",
        after: "    ...runs.map(runPage),",
        insert: ["    extentPage(content),"],
      },
    ],
    shows: "`cli/agentrl report PATH` has it in its contents.",
    then: "a test of its markup in `tests/report/`; ids are unique in the document.",
  },
} as const satisfies Readonly<Record<string, Recipe>>;

function insertionText(insertion: Insertion): string[] {
  const added = insertion.insert.map((line) => `+${line}`);
  const lines = "after" in insertion
    ? [` ${insertion.after}`, ...added]
    : [...added, ` ${insertion.before}`];
  return ["@@", ...lines];
}

function recipeText({ title, says, files, lines, shows, then }: Recipe): string {
  const paths = [...new Set(lines.map(({ path }) => path))];
  const changes = paths.map((path) => [
    `\`${path}\`:`,
    "",
    "```diff",
    ...lines.filter((line) => line.path === path).flatMap(insertionText),
    "```",
    "",
  ]);
  return [
    `## ${title}`,
    "",
    says,
    "",
    ...files.flatMap(({ example, path }) => [
      `New: \`${path}\` ([example](examples/extending/${example})).`,
      "",
    ]),
    ...changes.flat(),
    `Shown by: ${shows}`,
    "",
    `The suite also asks for: ${then}`,
  ].join("\n");
}

/** What is in docs/extending.md between its introduction and its end, before `deno fmt` wraps it. */
export function recipesText(): string {
  return Object.values<Recipe>(RECIPES).map(recipeText).join("\n\n");
}
