/** Episodes as coloured transcripts: who wrote each token, how likely the policy found it, and what the episode earned. */
import { WORDS } from "../gym/vocabulary.ts";
import { ALGORITHMS } from "../rl/algorithms.ts";
import { episodeTokens } from "./episode_tokens.ts";
import { formatNumber } from "./format.ts";
import { type Html, html, idOf, NOTHING } from "./html.ts";
import type { EpisodeData, RunData } from "./run_data.ts";
import type { TokenData } from "./token_data.ts";
import type { KeptSequence } from "./token_keep.ts";

/** Different episodes of a step that are shown. */
const EPISODES_SHOWN = 16;

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** An episode with what the update made of it, and the others of its step that are the same in all that is shown. */
interface Entry {
  readonly episode: EpisodeData;
  /** Where it is shown token by token already, since a finding points to it. */
  readonly shownAt: string | undefined;
  readonly advantage: number | undefined;
  /** Groups of all of them, each once. */
  readonly groups: readonly number[];
  readonly count: number;
}

/** The text of an episode, a turn a line; or where that is shown already. */
function episodeText({ episode, shownAt }: Entry, words: readonly string[]): Html {
  if (shownAt !== undefined) {
    return html`
      <div><a href="#${shownAt}">Shown above, token by token: a finding points to it</a></div>
    `;
  }
  const { tokens, owners, logps } = episode;
  return episodeTokens({ words: tokens.map((id) => words[id] ?? `#${id}`), owners, logps });
}

function episodeRow(
  entry: Entry,
  { id, words }: { readonly id: string; readonly words: readonly string[] },
): Html {
  const { episode, advantage, groups, count } = entry;
  const { info, reward } = episode;
  const task = isText(info.task) ? info.task : "episode";
  const stop = isText(info.stop) ? info.stop : "";
  return html`
    <div class="episode" id="${id}" data-task="${task}" data-reward="${formatNumber(
      reward,
    )}"
      data-stop="${stop}">
      <div
        class="side"><b>${task}</b> <a href="#${id}" aria-label="Link to this episode">#</a>${count ===
            1
          ? NOTHING
          : html`
            <b>× ${count}</b>
          `}<br><span class="note">${groups.length === 1 ? "group" : "groups"} ${groups.join(
            ", ",
          )}</span><br>reward <b>${formatNumber(
            reward,
          )}</b><br>advantage ${advantage === undefined
          ? "–"
          : formatNumber(advantage)}${stop === ""
          ? NOTHING
          : html`<br><span class="note">ended by ${stop}</span>`}</div>
      ${episodeText(entry, words)}
    </div>
  `;
}

/** Entries without repetitions: equal tokens, rewards and advantages are one. What is shown elsewhere stays alone. */
function collapse(entries: readonly Omit<Entry, "groups" | "count">[]): Entry[] {
  const sameOf = Map.groupBy(
    entries,
    ({ episode: { tokens, reward, info }, advantage, shownAt }) =>
      shownAt ?? JSON.stringify([tokens, reward, advantage, info.task, info.stop]),
  );
  return Array.from(sameOf.values(), (same) => ({
    ...same[0],
    groups: [...new Set(same.map(({ episode }) => episode.group))],
    count: same.length,
  }));
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

/** The id of the part of a run's page about tokens. */
export function tokensId(prefix: string): string {
  return idOf(prefix, "tokens");
}

/** The sequences of a dump to which a finding points. */
export function pointedSequences({ digest }: TokenData): readonly KeptSequence[] {
  return digest.kept.filter(({ findings }) => findings.length > 0);
}

/** Where the episodes are shown that a finding points to, by step and number. */
function shownByFindings({ tokens }: RunData, prefix: string): ReadonlyMap<string, string> {
  if (tokens === undefined || "leftOutBytes" in tokens) return new Map();
  return new Map(
    pointedSequences(tokens).map(({ summary: { step, sample, key } }) =>
      [`${step}/${sample}`, `${tokensId(prefix)}-sequence-${key}`] as const
    ),
  );
}

/** Episodes of one step: whole groups, those with unequal rewards first, since they are what the update learns from. */
function stepTranscripts(
  run: RunData,
  step: number,
  { prefix, shownAt }: {
    readonly prefix: string;
    readonly shownAt: ReadonlyMap<string, string>;
  },
): Html {
  const episodes = run.episodes.filter((episode) => episode.step === step);
  const advantage_B = advantagesOf(episodes, run);
  const entries = collapse(
    episodes.map((episode, b) => ({
      episode,
      advantage: advantage_B?.[b],
      shownAt: shownAt.get(`${step}/${episode.episode}`),
    })),
  );
  const rewardsOf = new Map<number, Set<number>>();
  episodes.forEach(({ group, reward }) => {
    rewardsOf.set(group, (rewardsOf.get(group) ?? new Set()).add(reward));
  });
  const interest = ({ episode: { group } }: Entry) => rewardsOf.get(group)?.size ?? 0;
  const ordered = advantage_B ? entries.toSorted((a, b) => interest(b) - interest(a)) : entries;
  const shown = ordered.slice(0, EPISODES_SHOWN);
  const id = episodesId(prefix, step);
  const words = run.settings?.environment?.words ?? WORDS;
  const count = shown.reduce((sum, entry) => sum + entry.count, 0);
  const title =
    `Step ${step}: ${formatNumber(count)} of ${formatNumber(episodes.length)} episodes` +
    (count > shown.length ? `, ${formatNumber(shown.length)} of them different` : "");
  return html`<details class="transcripts" id="${id}"><summary>${title}</summary>${
    shown.map((entry, i) => episodeRow(entry, { id: idOf(id, i), words }))
  }</details>`;
}

/** The id of a step's episodes in the page of a run: points of its charts lead there. */
export function episodesId(prefix: string, step: number): string {
  return idOf(prefix, "episodes", step);
}

/**
 * Steps from the first to the last, evenly.
 *
 * @param steps All there are.
 * @param most How many are shown.
 */
export function shownSteps<T>(steps: readonly T[], most: number): ReadonlySet<T> {
  if (steps.length <= most) return new Set(steps);
  const stride = (steps.length - 1) / Math.max(1, most - 1);
  return new Set(Array.from({ length: most }, (_, i) => steps[Math.round(i * stride)]));
}

/**
 * Transcripts of the steps whose episodes were read.
 *
 * @param run The run.
 * @param prefix Begins the ids.
 * @returns Nothing where no episode was written.
 */
export function transcripts(run: RunData, prefix: string): Html {
  const steps = [...new Set(run.episodes.map(({ step }) => step))];
  if (steps.length === 0) return NOTHING;
  const shownAt = shownByFindings(run, prefix);
  return html`
    <p
      class="key note">Written by the <span class="token prompt">prompt</span>, the <span class="token policy">policy</span>
    (its log-prob shows on hover and focus; a <span class="token policy unlikely">double line</span> marks probabilities below 5 %), the
    <span class="token tool">tool</span>. The advantage is the one that the run's algorithm takes from the rewards of the group. Equal episodes of a step are shown once, with a count. A click on a point of a chart leads to the episodes of its step.</p>
    <div class="episodes">${steps.map((step) =>
      stepTranscripts(run, step, { prefix, shownAt })
    )}</div>
  `;
}
