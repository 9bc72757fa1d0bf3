/** Figures from public reports of broken trainers: the dump that such a run would have written is named for what it was. */
import { assert, assertEquals } from "@std/assert";
import { randomSequence } from "../../../src/core/rng.ts";
import type { Finding } from "../../../src/diagnose/finding.ts";
import { judgeTokens } from "../../../src/diagnose/tokens/judge_tokens.ts";
import type { TokenSequence } from "../../../src/tokens/token_batch.ts";
import { dumpOf, made } from "./made_sequences.ts";

const isAlarm = (finding: Finding) => finding.class === "violated" || finding.class === "suspect";

/** Answers of one token each, with the rewards and advantages of groups. */
function paid(
  groups: readonly (readonly [reward: number, advantage: number])[][],
): TokenSequence[] {
  const random = randomSequence({ seed: 3, stream: 90 });
  return groups.flatMap((group, g) =>
    group.map(([reward, advantage]) =>
      made({
        ids: [1, 10 + g, ...Array.from({ length: 30 }, () => random.integer(1000))],
        mask: [0, 0, ...new Array(30).fill(1)],
        step: 1,
        group: `g${g}`,
        reward,
        advantage,
      })
    )
  );
}

Deno.test("groups of 4, 3 and 4 with one baseline: a group of rewards of 5.0 has the advantage -1.0909", async () => {
  const groups = [[8, 7, 6, 9], [5, 5, 5], [4, 6, 7, 5]];
  const all = groups.flat();
  const mean = all.reduce((sum, reward) => sum + reward, 0) / all.length;
  assertEquals((5 - mean).toFixed(4), "-1.0909");
  const [first] = await judgeTokens(
    dumpOf(paid(groups.map((group) => group.map((reward) => [reward, reward - mean] as const)))),
  );
  assert(["advantage_not_centred", "group_size_wrong"].includes(first.id) && isAlarm(first));
  const all2 = await judgeTokens(
    dumpOf(paid(groups.map((group) => group.map((reward) => [reward, reward - mean] as const)))),
  );
  const finding = all2.find(({ id }) => id === "advantage_not_centred");
  assert(finding && isAlarm(finding) && finding.sentence.includes("-1.09"), finding?.sentence);
});

Deno.test("baselines 16/31 and 15/31: two groups of 16 were treated as one of 32", async () => {
  const rewards = [
    Array.from({ length: 16 }, (_, i) => Number(i < 10)),
    Array.from({ length: 16 }, (_, i) => Number(i < 6)),
  ];
  const total = rewards.flat().reduce((sum, reward) => sum + reward, 0);
  const leaveOneOut = (reward: number) => (total - reward) / 31;
  assertEquals([leaveOneOut(0), leaveOneOut(1)], [16 / 31, 15 / 31]);
  const groups = rewards.map((group) =>
    group.map((reward) => [reward, reward - leaveOneOut(reward)] as const)
  );
  const findings = await judgeTokens(dumpOf(paid(groups)));
  assertEquals(findings.filter(isAlarm).map(({ id }) => id), ["groups_merged"]);
  // Beside groups with baselines of their own nothing else explains it.
  const own = [
    Array.from({ length: 16 }, (_, i) => Number(i < 3)),
    Array.from({ length: 16 }, (_, i) => Number(i < 8)),
  ];
  const others = own.map((group) => {
    const sum = group.reduce((a, b) => a + b, 0);
    return group.map((reward) => [reward, reward - (sum - reward) / 15] as const);
  });
  const [first] = await judgeTokens(dumpOf(paid([...groups, ...others])));
  assertEquals([first.id, first.class], ["groups_merged", "violated"]);
  assertEquals(first.value, 0.5);
});

Deno.test("a stated length of 12 where 9 tokens were drawn", async () => {
  const sequence = made({
    ids: Array.from({ length: 16 }, (_, i) => 20 + i),
    mask: [0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1],
    answerLength: 12,
  });
  const finding = (await judgeTokens(dumpOf([sequence]))).find(({ id }) =>
    id === "lengths_disagree"
  );
  assertEquals([finding?.class, finding?.value, finding?.bound], ["suspect", 12, 9]);
  const right = await judgeTokens(dumpOf([{ ...sequence, answerLength: 9 }]));
  assertEquals(right.find(({ id }) => id === "lengths_disagree")?.class, "holds");
});

Deno.test("gaps of 0.010 to 0.018 nats that jump to 0.201 when the sampler's weights are stale", async () => {
  const random = randomSequence({ seed: 5, stream: 90 });
  const gaps = [0.010, 0.018, 0.014, 0.201, 0.201];
  const sequences = gaps.flatMap((gap, step) =>
    Array.from({ length: 6 }, () => {
      const sampler = Array.from({ length: 60 }, () => Math.log(1 - random.uniform()));
      const trainer = sampler.map((value) =>
        value + gap * Math.sqrt(Math.PI / 2) * random.normal()
      );
      return made({
        ids: sampler.map(() => random.integer(5000)),
        mask: sampler.map(() => 1),
        step,
        logProbs: { sampler, trainer },
      });
    })
  );
  const findings = await judgeTokens(dumpOf(sequences));
  assertEquals([findings[0].id, findings[0].class, findings[0].step], [
    "stale_weights",
    "suspect",
    3,
  ]);
  const healthy = await judgeTokens(dumpOf(sequences.filter(({ step }) => (step ?? 0) < 3)));
  assertEquals(healthy.filter(isAlarm), []);
});
