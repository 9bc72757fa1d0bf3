/** All forms of token dumps that are read. A new one is a file with a reader, and a line here. */
import { COMMON_DUMP } from "./common_dump.ts";
import { TOKEN_EXPORTS } from "./token_exports.ts";
import type { TokenReader } from "./token_reader.ts";

/** The readers, in the order in which they are listed. */
export const TOKEN_READERS: readonly TokenReader[] = [
  COMMON_DUMP,
  TOKEN_EXPORTS,
];
