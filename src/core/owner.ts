/** Who wrote a token. The loss mask of an episode derives from it and from nothing else. */
/**
 * Who put a token into an episode. The loss mask derives from it and from nothing else: only `policy` tokens are trained.
 * `pad` marks the columns after the end of an episode.
 */
export const OWNER = { pad: 0, prompt: 1, policy: 2, tool: 3 } as const;
