/** Checks a trainer that gives the second winner of a group less than the first: prints what the last invariant says of it. */
import { type CheckableTrainer, checkInvariants } from "agentrl";

const advantage_B = [0.6, 0.4, -1];

/** One problem, three episodes of a prompt and one policy token each; evidence in memory, and no device. */
const trainer: CheckableTrainer = {
  episodes: [1, 1, 0].map((reward) => ({ owners: [1, 2], logps: [0, -1], reward, problem: "p" })),
  groupId_B: [0, 0, 0],
  stepsPerUpdate: 1,
  logpTolerance: 1e-4,
  lossInputs: (pad) => {
    const grid = (value: number) => advantage_B.flatMap(() => [value, ...Array(pad).fill(0)]);
    return Promise.resolve({
      columnCount: 1 + pad,
      mask_BC: grid(1),
      oldLogp_BC: grid(-1),
      logp_BC: grid(-1),
      advantage_B,
      loss: 0,
      gradient_W: [3, 4],
    });
  },
  advantages: () => advantage_B,
  gradient: () => Promise.resolve([3, 4]),
  update: () => Promise.resolve({ approxKl: 0, logp_BC: [-0.9, -0.9, -1.2] }),
  updateWithoutSignal: () => Promise.resolve(0),
};

const results = await checkInvariants(trainer);
const { name, verdict, value } = results[results.length - 1];
console.log(JSON.stringify({ checks: results.length, name, verdict, value }));
