/** Tests of the reader of verifiers' traces. */
import { assertEquals, assertRejects } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { TOKEN_ROLES, type TokenSequence } from "../../src/tokens/token_batch.ts";
import { jsonl, readDump } from "./read_dump.ts";

const node = (
  parent: number | null,
  role: string,
  fields: Readonly<Record<string, unknown>> = {},
) => ({
  parent,
  message: { role, content: "…" },
  sampled: false,
  timestamp: 1.5,
  mask: [],
  is_content: [],
  logprobs: [],
  advantages: null,
  reference_logprobs: null,
  ...fields,
});

/** An assistant's turn: a scaffold of one token, and what was sampled, the end of turn last. */
const turn = (parent: number, ids: readonly number[], logprobs: readonly unknown[]) =>
  node(parent, "assistant", {
    sampled: true,
    token_ids: [90, ...ids],
    mask: [false, ...ids.map(() => true)],
    is_content: [false, ...ids.map((_, i) => i < ids.length - 1), false].slice(0, ids.length + 1),
    logprobs,
    advantages: ids.map(() => 0.5),
  });

/** Two turns; from the first of them a second conversation branches off. */
const NODES = [
  node(null, "system", { token_ids: [1, 2], mask: [false, false] }),
  node(0, "user", { token_ids: [3] }),
  turn(1, [10, 11], [-0.5, -0.25]),
  node(2, "tool", { token_ids: [4, 5] }),
  turn(3, [12, 13], [-1, -2]),
  node(2, "developer", { token_ids: [6] }),
  { ...turn(5, [14, 15], [-3, -4]), advantages: null, reference_logprobs: [-5, -6] },
];

const EPISODE = {
  id: "e1",
  env: { id: "7", name: "bugfix" },
  task: { idx: 3 },
  group: { id: "g4" },
  run: { type: "train", work: { step: 6, policy: { start: 5, end: 5 } } },
  ok: true,
  errors: [],
  traces: [{
    id: "t1",
    agent: "solver",
    nodes: NODES,
    calls: [],
    rewards: { tests: { score: 1, weight: 0.5 }, style: { score: 2, weight: 0.25 }, none: null },
    metrics: {},
    stop_condition: "max_turns_reached",
    is_completed: true,
    ok: true,
    errors: [],
  }],
};

const roles = ({ roles }: TokenSequence) =>
  Array.from(roles ?? [], (role) => TOKEN_ROLES[role][0]).join("");

Deno.test("traces: every path from root to leaf is a sample, and compact values lie under the mask", async () => {
  const { form, sequences, ignored } = await readDump(jsonl([EPISODE]));
  assertEquals([form, sequences.length, ignored], ["traces", 2, {}]);
  const [first, second] = sequences;
  assertEquals(sequences.map(({ ids }) => [...ids]), [
    [1, 2, 3, 90, 10, 11, 4, 5, 90, 12, 13],
    [1, 2, 3, 90, 10, 11, 6, 90, 14, 15],
  ]);
  assertEquals(sequences.map(roles), ["ssuaaattaaa", "ssuaaaoaaa"]);
  assertEquals([...first.mask!], [0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1]);
  assertEquals(first.sampled, first.mask);
  const none = NaN;
  assertEquals(
    [...first.logProbs.sampler!.values],
    [none, none, none, none, -0.5, -0.25, none, none, none, -1, -2],
  );
  assertEquals([...second.logProbs.sampler!.values].slice(-2), [-3, -4]);
  assertEquals(first.logProbs.reference, undefined);
  assertEquals([...second.logProbs.reference!.values].slice(4), [none, none, none, none, -5, -6]);
  // A node that was never scored has no advantage; 0 would be that of a flat group.
  assertEquals([...second.advantages!.values].slice(4), [0.5, 0.5, none, none, none, none]);
  const { ids: _ids, mask: _mask, sampled: _sampled, roles: _roles, logProbs: _logProbs, ...rest } =
    first;
  assertEquals<Partial<TokenSequence>>(rest, {
    file: "dump.jsonl",
    row: 1,
    offset: 0,
    step: 6,
    environment: "bugfix",
    group: "g4",
    sample: "t1",
    reward: 1,
    rewardParts: new Map([["tests", 1], ["style", 2]]),
    stop: "length",
    stopText: "max_turns_reached",
    weightVersions: new Int32Array(11).fill(5),
    advantages: first.advantages!,
  });
});

Deno.test("traces: a mask on a message that nobody sampled stays, and sampled content outside the mask is told", async () => {
  const nodes = [
    node(null, "user", { token_ids: [1, 2], mask: [true, false], logprobs: [0] }),
    {
      ...turn(0, [10, 11], [-0.5]),
      mask: [false, false, true],
      is_content: [false, true, false],
      advantages: [0.5],
    },
  ];
  const { sequences: [{ mask, sampled }] } = await readDump(
    jsonl([{ ...EPISODE, traces: [{ ...EPISODE.traces[0], nodes }] }]),
  );
  assertEquals([...mask!], [1, 0, 0, 0, 1]);
  assertEquals([...sampled!], [0, 0, 0, 1, 1]);
});

Deno.test("traces: agents of one episode are groups of their own, errors are ends, weights that changed are told", async () => {
  const [trace] = EPISODE.traces;
  const { sequences, ignored } = await readDump(jsonl([{
    ...EPISODE,
    env: "math",
    group: null,
    traces: [{ ...trace, rewards: {}, nodes: [node(null, "user")] }],
  }, {
    ...EPISODE,
    run: { type: "train", work: { step: 6, policy: { start: 5, end: 6 } } },
    traces: [
      { ...trace, nodes: NODES.slice(0, 3) },
      { ...trace, nodes: NODES.slice(0, 3), agent: "judge", errors: [{ type: "X" }], ok: false },
    ],
  }]));
  assertEquals(ignored, {
    "paths without tokens": 1,
    "versions of weights that changed within an episode": 1,
  });
  assertEquals(
    sequences.map(({ row, group, stop, weightVersions }) => [
      row,
      group,
      stop,
      weightVersions,
    ]),
    [[2, "g4 solver", "length", undefined], [2, "g4 judge", "error", undefined]],
  );
});

Deno.test("traces: damaged nodes are refused with their names, and a tree without an end is none", async () => {
  const damages: readonly (readonly [number, Readonly<Record<string, unknown>>, string])[] = [
    [2, { logprobs: [-1] }, "nodes[2].logprobs has 1 values, but must have 2, one for each"],
    [2, { mask: [true] }, "nodes[2].mask has 1 values, but must have 3"],
    [4, { parent: 4 }, "nodes[4].parent is 4, but must be a node before it"],
    [0, { parent: 3 }, "nodes[0].parent is 3, but must be a node before it"],
    [1, { token_ids: [-3] }, "nodes[1].token_ids[0] is -3"],
  ];
  for (const [index, damage, reason] of damages) {
    const nodes = NODES.map((node, i) => i === index ? { ...node, ...damage } : node);
    await assertRejects(
      () => readDump(jsonl([{ ...EPISODE, traces: [{ ...EPISODE.traces[0], nodes }] }])),
      UserError,
      `Cannot read dump.jsonl, row 1: traces[0].${reason}`,
    );
  }
  // A trunk of 20,000 tokens with 10,000 leaves is 200 million tokens in 300 kB.
  const trunk = node(null, "user", { token_ids: Array(20_000).fill(1) });
  const nodes = [trunk, ...Array.from({ length: 10_000 }, () => ({ parent: 0, token_ids: [1] }))];
  await assertRejects(
    () => readDump(jsonl([{ ...EPISODE, traces: [{ nodes }] }])),
    UserError,
    "traces[0].nodes has paths of 200010000 tokens together, but must have at most",
  );
});
