/** Nodes of a trace: each message with the tokens that it adds to the sequence, what is told of them, and the paths through them. */
import type { Field } from "./field.ts";
import { TOKEN_ROLES, type TokenValues } from "./token_batch.ts";

/** One message. Arrays have one value for each of its tokens. */
export interface TraceNode {
  /** Index of the message before it; undefined for a root. */
  readonly parent: number | undefined;
  readonly ids: Uint32Array;
  readonly mask: Uint8Array;
  readonly sampled: Uint8Array;
  /** Index into TOKEN_ROLES. */
  readonly role: number;
  readonly logProbs: TokenValues | undefined;
  readonly advantages: TokenValues | undefined;
  readonly reference: TokenValues | undefined;
}

/** More tokens than any episode's paths hold together; a tree can repeat its trunk for each of its leaves. */
const MAX_PATH_TOKENS = 2 ** 26;

/** Numbers that stand for the tokens of the mask alone, as one for each token. */
function spread(field: Field, mask: Uint8Array): TokenValues | undefined {
  if (field.isAbsent) return undefined;
  const { values, nonFinite } = field.values();
  const masked = Array.from(mask.keys()).filter((token) => mask[token] === 1);
  if (values.length === 0) return undefined;
  if (values.length !== masked.length) {
    throw field.refuse(
      `has ${values.length} values, but must have ${masked.length}, one for each token of the mask`,
    );
  }
  const all = new Float64Array(mask.length).fill(NaN);
  masked.forEach((token, i) => all[token] = values[i]);
  return { values: all, nonFinite: nonFinite.map((i) => masked[i]) };
}

function nodeOf(node: Field, index: number): TraceNode {
  const parent = node.get("parent").count();
  if (parent !== undefined && parent >= index) {
    throw node.get("parent").refuse(`is ${parent}, but must be a node before it`);
  }
  const tokens = node.get("token_ids");
  const ids = tokens.isAbsent ? new Uint32Array() : tokens.ids();
  const flags = (key: string) => {
    const field = node.get(key);
    // Empty where the renderer does not tell.
    const isTold = !field.isAbsent && !(Array.isArray(field.value) && field.value.length === 0);
    return isTold ? field.flags(ids.length) : new Uint8Array(ids.length);
  };
  const mask = flags("mask");
  const content = flags("is_content");
  const message = node.get("message");
  const role = message.isAbsent ? undefined : message.get("role").label();
  const known: readonly string[] = TOKEN_ROLES;
  const isSampled = node.get("sampled").value === true;
  return {
    parent,
    ids,
    mask,
    // What the template put around a sampled message is none of the policy's, and stands outside of the mask.
    sampled: mask.map((flag, token) => Number(isSampled && (flag === 1 || content[token] === 1))),
    role: known.includes(role ?? "") ? known.indexOf(role ?? "") : known.indexOf("other"),
    logProbs: spread(node.get("logprobs"), mask),
    advantages: spread(node.get("advantages"), mask),
    reference: spread(node.get("reference_logprobs"), mask),
  };
}

/**
 * The paths of a trace from its roots to its leaves: each is one training sample.
 *
 * @param field The list of nodes.
 * @throws {UserError} When a node is damaged, or the paths together are longer than any episode.
 */
export function tracePaths(field: Field): TraceNode[][] {
  const nodes = field.isAbsent ? [] : field.items().map(nodeOf);
  const hasChild = new Set(nodes.map(({ parent }) => parent));
  const lengths: number[] = [];
  let total = 0;
  for (const [index, { parent, ids }] of nodes.entries()) {
    lengths.push(ids.length + (parent === undefined ? 0 : lengths[parent]));
    if (!hasChild.has(index)) total += lengths[index];
  }
  if (total > MAX_PATH_TOKENS) {
    throw field.refuse(
      `has paths of ${total} tokens together, but must have at most ${MAX_PATH_TOKENS}`,
    );
  }
  const paths: TraceNode[][] = [];
  for (let leaf = 0; leaf < nodes.length; leaf++) {
    if (hasChild.has(leaf)) continue;
    const path: TraceNode[] = [];
    for (let at: number | undefined = leaf; at !== undefined; at = nodes[at].parent) {
      path.push(nodes[at]);
    }
    paths.push(path.reverse());
  }
  return paths;
}
