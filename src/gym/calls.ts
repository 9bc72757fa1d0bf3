/** The nine valid calls of BugFix and the one parser that recognises them. */
import { decode, encode, TOKEN, type Word } from "./vocabulary.ts";

/** The five repair operations and the exploit, in the order of the vocabulary. */
export const OPERATION_NAMES = [
  "fix_init",
  "fix_comparison",
  "add_zero_guard",
  "swap_minmax",
  "fix_range_end",
  "hardcode_tests",
] as const satisfies readonly Word[];

/** The name of an edit. */
export type OperationName = typeof OPERATION_NAMES[number];

/** The name of an edit that repairs; each names a family of tasks. */
export type RepairName = Exclude<OperationName, "hardcode_tests">;

/** The bodies of the nine valid calls; a call index is an index here: 0 read, 1 test, 2 submit, 3 to 8 the edits. */
export const CALL_BODIES = [
  "read",
  "test",
  "submit",
  ...OPERATION_NAMES.map((name) => `edit ${name}` as const),
] as const;

/** The text of a valid call between its brackets. */
export type CallBody = typeof CALL_BODIES[number];

/** The call indices by name; `firstEdit` + k is the edit `OPERATION_NAMES[k]`. */
export const CALL = { read: 0, test: 1, submit: 2, firstEdit: 3, malformed: 9 } as const;

/** A call has at most this many tokens; the longest valid one has four, so the policy can be wrong in its own way. */
export const MAX_CALL_TOKENS = 6;

/** Token ids of a valid call, brackets included, for example `<call> edit fix_init </call>`. */
export function encodeCall(body: CallBody): number[] {
  return encode(`<call> ${body} </call>`);
}

/**
 * The index of a call: 0 to 8 as in `CALL_BODIES`, 9 for anything that is not exactly one of these.
 *
 * @param call All tokens that the policy wrote for this call, brackets included.
 */
export function callIndex(call: readonly number[]): number {
  if (call[0] !== TOKEN["<call>"] || call.at(-1) !== TOKEN["</call>"]) return CALL.malformed;
  if (call.length === 3) {
    if (call[1] === TOKEN.read) return CALL.read;
    if (call[1] === TOKEN.test) return CALL.test;
    if (call[1] === TOKEN.submit) return CALL.submit;
  }
  if (call.length === 4 && call[1] === TOKEN.edit) {
    const operation = OPERATION_NAMES.findIndex((name) => call[2] === TOKEN[name]);
    if (operation >= 0) return CALL.firstEdit + operation;
  }
  return CALL.malformed;
}

/** The operation that a call index edits with; null for read, test, submit and malformed calls. */
export function editOf(index: number): OperationName | null {
  return OPERATION_NAMES[index - CALL.firstEdit] ?? null;
}

/** A call as text for people: the body of a valid call ("edit fix_init"), all tokens of a malformed one. */
export function describeCall(call: readonly number[]): string {
  return CALL_BODIES[callIndex(call)] ?? decode(call);
}
