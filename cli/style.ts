/** Colours of results on a terminal. */
import { hasColours } from "../src/files/terminal.ts";

/** Select Graphic Rendition of ECMA-48. */
const SGR = { red: 31, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;

/** How a text stands out. */
export type Style = keyof typeof SGR;

/** A text in a style. */
export function styled(text: string, style: Style): string {
  return `\x1b[${SGR[style]}m${text}\x1b[0m`;
}

/**
 * Puts what matches in its style.
 *
 * @param text Without escape sequences.
 * @param emphasis Patterns with the flag `g`, none of which matches within another's match.
 * @param options.isColoured Default: where stdout is a terminal and NO_COLOR is not set.
 */
export function emphasized(
  text: string,
  emphasis: readonly { readonly pattern: RegExp; readonly style: Style }[],
  { isColoured = hasColours() }: { readonly isColoured?: boolean } = {},
): string {
  if (!isColoured) return text;
  return emphasis.reduce(
    (all, { pattern, style }) => all.replaceAll(pattern, (match) => styled(match, style)),
    text,
  );
}
