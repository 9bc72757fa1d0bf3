/** Sources of which the comments, or the texts too, are taken away, for rules about what is left. */

/** Comments and text literals, longest first, so that a `//` inside a text is not a comment. */
const COMMENT_OR_TEXT =
  /\/\*[\s\S]*?\*\/|\/\/.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/** A source without its comments. */
export function withoutComments(source: string): string {
  return source.replace(COMMENT_OR_TEXT, (match) => match.startsWith("/") ? "" : match);
}

/** A source without its comments, its texts empty. */
export function withoutCommentsAndTexts(source: string): string {
  return source.replace(COMMENT_OR_TEXT, (match) => match.startsWith("/") ? "" : '""');
}
