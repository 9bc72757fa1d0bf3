/** Text that others may have written, made fit for a terminal: control characters spelled out, sentences of bounded length. */

/** C0, DEL and C1 controls, the two line separators of Unicode, and the characters that turn the direction of writing. */
const CONTROLS = /[\p{Cc}\u2028\u2029\p{Bidi_Control}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A sentence is cut to so many characters: the longest that still reads as one. */
export const MAX_SENTENCE_CHARACTERS = 300;

/** The part of a cut sentence that stays in front: what was attempted. Its end, what to do, stays too. */
const FRONT_CHARACTERS = 200;

function spelled(control: string): string {
  const code = control.charCodeAt(0).toString(16).padStart(4, "0");
  return SHORT[control] ?? `\\u${code}`;
}

/**
 * Spells control characters out, as JSON would: a terminal obeys them, and a line feed begins a line that looks like ours.
 *
 * @param text Any text.
 * @returns The text on one line. Inside the texts of a JSON document the result means the same.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, spelled);
}

/** {@linkcode escapeControls} for a text of several lines: its line feeds stay. */
export function escapeLines(text: string): string {
  return text.replace(CONTROLS, (control) => control === "\n" ? control : spelled(control));
}

/**
 * Makes an error's message fit for one line: control characters are spelled out, and what is too long loses its middle.
 *
 * @param message Any text.
 * @returns At most {@linkcode MAX_SENTENCE_CHARACTERS} characters.
 */
export function oneSentence(message: string): string {
  const mark = " […] ";
  // Escaping makes a text at most six times as long, so the ends of a huge one are taken first.
  const whole = message.length <= 2 * MAX_SENTENCE_CHARACTERS
    ? message
    : message.slice(0, MAX_SENTENCE_CHARACTERS) + mark + message.slice(-MAX_SENTENCE_CHARACTERS);
  const text = escapeControls(whole);
  if (text.length <= MAX_SENTENCE_CHARACTERS && whole === message) return text.toWellFormed();
  const back = MAX_SENTENCE_CHARACTERS - FRONT_CHARACTERS - mark.length;
  return (text.slice(0, FRONT_CHARACTERS) + mark + text.slice(-back)).toWellFormed();
}

/** Names with commas between them; of many, the first and how many more. */
export function list(names: readonly string[], most = 6): string {
  return names.length <= most
    ? names.join(", ")
    : `${names.slice(0, most).join(", ")} and ${names.length - most} more`;
}
