/** Judges a home-made trainer by what is known of one of its batches: its baseline is that of the batch, not of the group. */
import { checkInvariants } from "agentrl";

/** Two problems, four episodes each, of a prompt token (owner 1) and a token of the policy (owner 2). */
const rewards = [1, 1, 1, 0, 0, 0, 0, 1];
const episodes = rewards.map((reward, b) => ({
  owners: [1, 2],
  logps: [0, -1],
  reward,
  problem: Math.floor(b / 4),
}));

/** What the trainer does. A group's own mean would be right. */
const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
const advantage_B = rewards.map((reward) => reward - mean);

const results = await checkInvariants({
  episodes,
  groupId_B: episodes.map(({ problem }) => problem),
  advantageRule: { kind: "group_centred" },
  lossInputs: (pad) => Promise.resolve(pad > 0 ? undefined : { columnCount: 1, advantage_B }),
});
for (const { id, name, verdict, value, bound } of results) {
  if (verdict === "violated") console.log(`check ${id}, ${name}: ${value} (bound ${bound})`);
}
console.log(`${results.filter(({ verdict }) => verdict === "not-checkable").length} not checkable`);
