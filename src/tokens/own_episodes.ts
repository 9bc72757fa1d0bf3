/** Our own episodes.jsonl, and the episodes of a recorded step. */
import { OWNER } from "../core/owner.ts";
import type { Field } from "./field.ts";
import { firstKeys, jsonRows } from "./json_rows.ts";
import { stopReason } from "./stop_reason.ts";
import {
  TOKEN_ROLES,
  type TokenRole,
  type TokenSequence,
  type TokenValues,
} from "./token_batch.ts";
import type { TokenReader } from "./token_reader.ts";
import { present } from "./token_values.ts";

const ROLE_OF_OWNER: Readonly<Record<number, TokenRole>> = {
  [OWNER.prompt]: "user",
  [OWNER.policy]: "assistant",
  [OWNER.tool]: "tool",
};

/** The sampler's log-probs; a null at a token of the policy is a number that was none. */
function samplerLogProbs(field: Field, sampled: Uint8Array): TokenValues {
  const { values } = field.values(sampled.length);
  const nonFinite: number[] = [];
  for (const [token, isSampled] of sampled.entries()) {
    if (isSampled === 0) values[token] = NaN;
    else if (!Number.isFinite(values[token])) nonFinite.push(token);
  }
  return { values, nonFinite };
}

function sequenceOf(row: Field): TokenSequence {
  const ids = row.get("tokens").ids();
  const owners = row.get("owners")
    .integers(new Uint32Array(ids.length), { min: OWNER.pad, max: OWNER.tool });
  const sampled = Uint8Array.from(owners, (owner) => Number(owner === OWNER.policy));
  const info = row.get("info");
  const stopText = info.isAbsent ? undefined : info.get("stop").label();
  return {
    ...row.place,
    offset: 0,
    ids,
    sampled,
    roles: Uint8Array.from(owners, (owner) => TOKEN_ROLES.indexOf(ROLE_OF_OWNER[owner] ?? "other")),
    logProbs: { sampler: samplerLogProbs(row.get("logps"), sampled) },
    ...present({
      step: row.get("step").count(),
      group: row.get("group").label(),
      sample: row.get("episode").label(),
      environment: info.isAbsent ? undefined : info.get("task").label(),
      reward: row.get("reward").number(),
      stopText,
      stop: stopText === undefined ? undefined : stopReason(stopText),
    }),
  };
}

/** Our own episodes. */
export const OWN_EPISODES: TokenReader = {
  form: "agentrl_episodes",
  title: "the episodes of an agentrl run",
  producer: "agentrl",
  howToGet: ["agentrl: a run's folder, its episodes.jsonl or one of its steps/N"],
  holds: "tokens",
  detect(head) {
    const keys = firstKeys(head);
    return keys?.has("tokens") && keys.has("owners") ? 1 : 0;
  },
  async *read(input, notes) {
    for await (const row of jsonRows(input, notes)) {
      // An episode that was lost is no part of a batch.
      if (row.get("error").isAbsent) yield sequenceOf(row);
    }
  },
};
