/** Checks of samples and groups: summaries of all sequences are kept, and judged once the dump has passed. */
import { ANSWERS } from "./answers.ts";
import { BASELINES } from "./baselines.ts";
import { COMPOSITION } from "./composition.ts";
import { groupContextOf, type GroupRule } from "./group_context.ts";
import { SCALE } from "./scale.ts";
import { type SequenceSummary, summaryOf } from "./samples.ts";
import type { TokenCheckKind } from "./token_check.ts";

/** All rules about groups. */
const GROUP_RULES: readonly GroupRule[] = [COMPOSITION, BASELINES, SCALE, ANSWERS];

/** Sequences whose summaries are kept: with all that judging them takes, some 2 KiB each. */
const MOST_SUMMARIES = 150_000;

/** Samples, groups, rewards and advantages. */
export const GROUPS: TokenCheckKind = {
  ids: GROUP_RULES.flatMap(({ ids }) => ids),
  open({ groupSize }) {
    const summaries: SequenceSummary[] = [];
    let leftOut = 0;
    return {
      add(view) {
        if (summaries.length < MOST_SUMMARIES) summaries.push(summaryOf(view));
        else leftOut++;
      },
      finish() {
        const context = groupContextOf(summaries, { groupSize });
        const findings = GROUP_RULES.flatMap((rule) => rule.judge(context));
        if (leftOut === 0) return findings;
        return findings.map((finding) => ({
          ...finding,
          sentence:
            `${finding.sentence} (Of the first ${MOST_SUMMARIES} sequences; ${leftOut} were left out.)`,
        }));
      },
    };
  },
};
