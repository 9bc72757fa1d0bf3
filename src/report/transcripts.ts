/** Episodes as coloured transcripts: who wrote each token, how likely the policy found it, and what the episode earned. */
import { OWNER } from "../core/owner.ts";
import { WORDS } from "../gym/vocabulary.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, NOTHING } from "./html.ts";
import type { EpisodeData, RunData } from "./run_data.ts";

/** A probability below 5 % is worth a look: log 0.05 in nats. */
const UNLIKELY_NATS = Math.log(0.05);

/** Episodes of a step that are shown. */
const EPISODES_SHOWN = 16;

const OWNER_NAMES: Readonly<Record<number, string>> = {
  [OWNER.pad]: "pad",
  [OWNER.prompt]: "prompt",
  [OWNER.policy]: "policy",
  [OWNER.tool]: "tool",
};

function tokenSpan({ tokens, owners, logps }: EpisodeData, t: number): Html {
  const word = WORDS[tokens[t]] ?? `#${tokens[t]}`;
  const owner = OWNER_NAMES[owners[t]] ?? "pad";
  if (owner !== "policy") {
    return html`
      <span class="token ${owner}">${word}</span>
    `;
  }
  const unlikely = logps[t] < UNLIKELY_NATS ? " unlikely" : "";
  const logp = formatNumber(logps[t]);
  const share = formatNumber(Math.exp(logps[t]));
  return html`
    <span class="token policy tip${unlikely}"
      tabindex="0">${word}<span class="more"> log-prob ${logp}, probability ${share}</span></span>
  `;
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** The runs of equal owners: a prompt, a call, an observation each. */
function turnsOf({ owners }: EpisodeData): { begin: number; end: number }[] {
  const turns: { begin: number; end: number }[] = [];
  owners.forEach((owner, t) => {
    if (t > 0 && owner === owners[t - 1]) turns[turns.length - 1].end = t + 1;
    else turns.push({ begin: t, end: t + 1 });
  });
  return turns;
}

function episodeRow(episode: EpisodeData, advantage: number | undefined): Html {
  const { info, reward, group } = episode;
  const { task, stop } = info;
  const turns = turnsOf(episode).map(({ begin, end }) => {
    const spans = Array.from({ length: end - begin }, (_, i) => tokenSpan(episode, begin + i));
    return html`<span class="turn">${spans}</span>`;
  });
  return html`
    <div class="episode">
      <div
        class="side"><b>${isText(task)
          ? task
          : "episode"}</b> <span class="note">group ${group}</span><br>reward <b>${formatNumber(
            reward,
          )}</b><br>advantage ${advantage === undefined
          ? "–"
          : formatNumber(advantage)}${isText(stop)
          ? html`<br><span class="note">ended by ${stop}</span>`
          : NOTHING}</div>
      <div class="tokens roving" role="group" aria-label="Tokens of the episode">${turns}</div>
    </div>
  `;
}

/** Advantages as the run's algorithm takes them from the rewards; none where they need more than the batch. */
function advantagesOf(episodes: readonly EpisodeData[], run: RunData): Float64Array | undefined {
  if (run.settings === undefined) return undefined;
  const { algorithm: name, advantageEps } = run.settings.config;
  const algorithm = ALGORITHMS[name];
  if (!algorithm.grouped) return undefined;
  const groupId_B = episodes.map(({ group }) => group);
  const sizes = new Map<number, number>();
  groupId_B.forEach((id) => sizes.set(id, (sizes.get(id) ?? 0) + 1));
  if ([...sizes.values()].includes(1)) return undefined;
  const rewards_B = episodes.map(({ reward }) => reward);
  return algorithm.advantage({ rewards_B, groupId_B, baseline: 0, advantageEps }).advantage_B;
}

/** Episodes of one step: whole groups, those with unequal rewards first, since they are what the update learns from. */
function stepTranscripts(run: RunData, step: number): Html {
  const episodes = run.episodes.filter((episode) => episode.step === step);
  const advantage_B = advantagesOf(episodes, run);
  const entries = episodes.map((episode, b) => ({ episode, advantage: advantage_B?.[b] }));
  const rewardsOf = new Map<number, Set<number>>();
  episodes.forEach(({ group, reward }) => {
    rewardsOf.set(group, (rewardsOf.get(group) ?? new Set()).add(reward));
  });
  const interest = ({ episode: { group } }: typeof entries[number]) =>
    rewardsOf.get(group)?.size ?? 0;
  const shown = advantage_B ? entries.toSorted((a, b) => interest(b) - interest(a)) : entries;
  const rows = shown.slice(0, EPISODES_SHOWN).map(({ episode, advantage }) =>
    episodeRow(episode, advantage)
  );
  const count = `${Math.min(EPISODES_SHOWN, episodes.length)} of ${episodes.length} episodes`;
  return html`<details class="transcripts"><summary>Step ${step}: ${count}</summary>${rows}</details>`;
}

/** The first, the middle and the last of some steps. */
export function shownSteps<T>(steps: readonly T[]): ReadonlySet<T> {
  const places = [0, Math.floor(steps.length / 2), steps.length - 1];
  return new Set(steps.length === 0 ? [] : places.map((place) => steps[place]));
}

/**
 * Transcripts of the first, the middle and the last step whose episodes are on disk.
 *
 * @param run The run.
 * @returns Nothing where no episode was written.
 */
export function transcripts(run: RunData): Html {
  const steps = [...new Set(run.episodes.map(({ step }) => step))];
  if (steps.length === 0) return NOTHING;
  const chosen = shownSteps(steps);
  return html`
    <p
      class="key note">Written by the <span class="token prompt">prompt</span>, the <span class="token policy">policy</span>
    (its log-prob shows on hover and focus; a <span class="token policy unlikely">double line</span> marks probabilities below 5 %), the
    <span class="token tool">tool</span>. The advantage is the one that the run's algorithm takes from the rewards of the group.</p>
    ${[...chosen].map((step) => stepTranscripts(run, step))}
  `;
}
