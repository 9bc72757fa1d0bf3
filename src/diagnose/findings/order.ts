/** The order of findings: causes before their consequences, and the one thing to do first. */
import { type Finding, FINDING_CLASSES } from "../finding.ts";
import { TOKEN_CONSEQUENCES } from "../tokens/consequences.ts";

/** What each finding can bring about. Ids of causes in the order in which they come in a run. */
const CONSEQUENCES: Readonly<Record<string, readonly string[]>> = {
  non_finite: [
    "flat_groups",
    "gradient_spike",
    "joint_spike",
    "best_then_worse",
    "entropy_collapse",
    "entropy_explosion",
    "kl_runaway",
    "length_runaway",
    "length_collapse",
    "gradient_zero_with_signal",
    "ended_early",
    "answers_cut",
  ],
  learning_rate_zero: ["kl_exactly_zero", "ratio_always_one", "flat_groups"],
  answers_cut: [
    "flat_groups",
    "gradient_zero_with_signal",
    "length_runaway",
    "best_then_worse",
    "constant_reward_component",
    "entropy_collapse",
    "entropy_explosion",
    "non_finite",
  ],
  rollouts_fail: ["flat_groups", "best_then_worse", "gradient_zero_with_signal"],
  restart_seam: ["gap_jump", "joint_spike", "gradient_spike", "best_then_worse", "gap_growth"],
  sampler_trainer_gap: [
    "gap_growth",
    "ratio_not_one_at_start",
    "entropy_collapse",
    "entropy_explosion",
    "kl_runaway",
    "best_then_worse",
    "joint_spike",
    "reference_is_not_start",
    "length_runaway",
    "length_collapse",
    "flat_groups",
  ],
  gap_jump: [
    "sampler_trainer_gap",
    "best_then_worse",
    "joint_spike",
    "gradient_spike",
    "kl_runaway",
  ],
  gap_growth: ["best_then_worse", "joint_spike", "gradient_spike"],
  reference_is_not_start: ["kl_runaway", "length_runaway"],
  joint_spike: ["best_then_worse", "gradient_spike"],
  kl_runaway: [
    "best_then_worse",
    "entropy_explosion",
    "length_runaway",
    "length_collapse",
    "reward_up_eval_down",
  ],
  entropy_collapse: ["flat_groups", "best_then_worse", "length_collapse"],
  entropy_explosion: ["best_then_worse", "length_runaway", "answers_cut"],
  flat_groups: ["ratio_always_one"],
  reward_components_diverge: ["reward_up_eval_down"],
  ...TOKEN_CONSEQUENCES,
};

/** Where a finding stands when two are of one class: causes first, then what shows them, then the outcome. */
const RANK = [
  "not_rl",
  "non_finite",
  "learning_rate_zero",
  "metrics_contradict",
  ...Object.keys(TOKEN_CONSEQUENCES),
  "answers_cut",
  "restart_seam",
  "rollouts_fail",
  "gap_jump",
  "sampler_trainer_gap",
  "gap_growth",
  "ratio_not_one_at_start",
  "ratio_always_one",
  "kl_exactly_zero",
  "reference_is_not_start",
  "flat_groups",
  "gradient_zero_with_signal",
  "gradient_without_signal",
  "joint_spike",
  "kl_runaway",
  "entropy_collapse",
  "entropy_explosion",
  "length_runaway",
  "length_collapse",
  "reward_components_diverge",
  "reward_up_eval_down",
  "best_then_worse",
  "nothing_left_to_learn",
];

const rankOf = (id: string) => (RANK.indexOf(id) + RANK.length + 1) % (RANK.length + 1);

/** Class of a finding as a number: 0 is the gravest. */
function gravity(finding: Finding): number {
  return FINDING_CLASSES.indexOf(finding.class);
}

const isGrave = (finding: Finding) => finding.class === "violated" || finding.class === "suspect";

/** True where everything is cut off: then all that is measured of rewards and tokens follows from it. */
function cutsAll(finding: Finding): boolean {
  return finding.id === "answers_cut" && (finding.value ?? 0) >= 0.99;
}

/** Whether a finding can have brought about another: as a cause by its kind, and not begun after it. */
function brings(cause: Finding, effect: Finding): boolean {
  if (cause === effect || !isGrave(cause)) return false;
  if (!isGrave(effect) && effect.class !== "note") return false;
  if (!CONSEQUENCES[cause.id]?.includes(effect.id)) return false;
  // Two that can bring about each other: the earlier in the list of causes does, unless all answers are cut.
  const mutual = CONSEQUENCES[effect.id]?.includes(cause.id) === true && isGrave(effect);
  if (mutual && cutsAll(effect)) return false;
  if (mutual && !cutsAll(cause) && rankOf(cause.id) > rankOf(effect.id)) return false;
  // A consequence that is clearly older than its cause is none; starts of long findings are windows, so that ends count here.
  return cutsAll(cause) || cause.step === undefined || effect.step === undefined ||
    cause.step <= effect.step || HAS_WINDOW.has(cause.id);
}

/** Findings whose step is the begin of the window that was judged, and not when it began. */
const HAS_WINDOW: ReadonlySet<string> = new Set([
  "answers_cut",
  "sampler_trainer_gap",
  "gap_growth",
  "entropy_collapse",
  "entropy_explosion",
  "flat_groups",
  // Where a dump shows something best is not where it began.
  ...Object.keys(TOKEN_CONSEQUENCES),
]);

/**
 * Orders findings: the gravest class first, within it what explains others before what it explains.
 *
 * @param findings In any order.
 * @returns The same, each cause with the ids that follow from it in `explains`.
 */
export function orderFindings<F extends Finding>(findings: readonly F[]): F[] {
  const explained = findings.map((cause): F => {
    const ids = [
      ...new Set(findings.filter((effect) => brings(cause, effect)).map(({ id }) => id)),
    ];
    return ids.length === 0 ? cause : { ...cause, explains: ids };
  });
  const isExplained = (finding: Finding) =>
    explained.some((cause) => cause.id !== finding.id && cause.explains?.includes(finding.id));
  return explained.toSorted((a, b) =>
    // A cut of all answers stands before what it brings about, whatever class that has.
    Number(cutsAll(b)) - Number(cutsAll(a)) || gravity(a) - gravity(b) ||
    Number(isExplained(a)) - Number(isExplained(b)) || rankOf(a.id) - rankOf(b.id) ||
    (a.step ?? 0) - (b.step ?? 0)
  );
}

/** The finding to act on first: a grave one that no other explains, else the first that is worth acting on. */
export function firstToAct<F extends Finding>(ordered: readonly F[]): F | undefined {
  const explained = new Set(ordered.flatMap(({ explains }) => explains ?? []));
  const grave = ordered.filter(isGrave);
  return grave.find(({ id }) => !explained.has(id)) ?? grave[0] ??
    ordered.find((finding) => finding.class === "note" && finding.next !== undefined);
}
