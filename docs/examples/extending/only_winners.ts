/** A fault: negative advantages are dropped, so that failures teach nothing. */
import { type Fault, replay } from "../../../src/faults/fault.ts";
import { HEALTHY_STAGES } from "../../../src/rl/stages.ts";

/** The fault; `group_mean_zero` sees it wherever a group has a failure beside a success. */
export const ONLY_WINNERS: Fault = {
  kind: "code",
  summary: "negative advantages are dropped",
  stages: () => ({
    advantages: (batch, context) => {
      const { advantage_B, baseline } = HEALTHY_STAGES.advantages(batch, context);
      return { advantage_B: advantage_B.map((advantage) => Math.max(0, advantage)), baseline };
    },
  }),
  ruledOutBy: ["group_mean_zero"],
  advice: replay("advantages"),
};
