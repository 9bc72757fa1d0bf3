/** The tokens of an episode, coloured by who wrote them, a turn a line. */
import { OWNER } from "../core/owner.ts";
import { formatNumber } from "./format.ts";
import { type Html, html } from "./html.ts";

/** A probability below 5 % is worth a look: log 0.05 in nats. */
const UNLIKELY_NATS = Math.log(0.05);

const OWNER_NAMES: Readonly<Record<number, string>> = {
  [OWNER.pad]: "pad",
  [OWNER.prompt]: "prompt",
  [OWNER.policy]: "policy",
  [OWNER.tool]: "tool",
};

/** Tokens of one episode, one entry each. */
export interface EpisodeTokens {
  readonly words: readonly string[];
  /** Who wrote each (src/core/owner.ts). */
  readonly owners: readonly number[];
  /** The sampler's log-probs in nats; read where the policy wrote. */
  readonly logps: readonly number[];
}

function tokenSpan({ words, owners, logps }: EpisodeTokens, t: number): Html {
  const owner = OWNER_NAMES[owners[t]] ?? "pad";
  if (owner !== "policy") {
    return html`
      <span class="token ${owner}">${words[t]}</span>
    `;
  }
  const unlikely = logps[t] < UNLIKELY_NATS ? " unlikely" : "";
  const logp = formatNumber(logps[t]);
  const share = formatNumber(Math.exp(logps[t]));
  return html`
    <span class="token policy tip${unlikely}"
      tabindex="0">${words[
        t
      ]}<span class="more"> log-prob ${logp}, probability ${share}</span></span>
  `;
}

/** The runs of equal owners: a prompt, a call, an observation each. */
function turnsOf(owners: readonly number[]): { begin: number; end: number }[] {
  const turns: { begin: number; end: number }[] = [];
  owners.forEach((owner, t) => {
    if (t > 0 && owner === owners[t - 1]) turns[turns.length - 1].end = t + 1;
    else turns.push({ begin: t, end: t + 1 });
  });
  return turns;
}

/** All tokens, a turn a line; arrow keys move among them. */
export function episodeTokens(tokens: EpisodeTokens): Html {
  const turns = turnsOf(tokens.owners).map(({ begin, end }) => {
    const spans = Array.from({ length: end - begin }, (_, i) => tokenSpan(tokens, begin + i));
    return html`<span class="turn">${spans}</span>`;
  });
  return html`<div class="tokens roving" role="group" aria-label="Tokens of the episode">${turns}</div>`;
}
