/** The rule that libraries hold no words of the command line: they mention settings and commands as data, and cli/ says them. */
import { COMMANDS } from "../cli/registry.ts";
import { withoutComments } from "./source_text.ts";

/** Flags in code or texts (a decrement that is compared is none), the launcher, and commands by the program's name. */
const COMMAND_LINE_WORDS = [
  /(?<![\w-])--[a-z][\w-]*(?! ===)\b/g,
  /cli\/agentrl/g,
  new RegExp(`\\bagentrl (?:${Object.keys(COMMANDS).join("|")})\\b`, "g"),
];

/** What looks like words of ours and is not, with the reason; a folder stands for its files. */
const OTHERS_WORDS: Readonly<Record<string, string>> = {
  "src/producers/": "flags of other trainers, by which their users know them",
  "src/logs/tensorboard.ts": "OpenRLHF's flag",
  "src/logs/html_tables.ts": "Jupyter's flag",
  "src/sandbox/test_runner.ts": "Deno's flags, of the process that is started",
  "src/sandbox/module_environment.ts": "Deno's flags, of the process that is started",
  "src/bench/peer.ts": "flags of the peer program that is started",
  "src/report/report.ts": "the heading of a report is the program's name",
  "src/report/document.ts": "pages are told apart by the command that makes them",
  "src/live/page.ts": "the title of the page is the program's name",
};

/**
 * Words of the command line in libraries.
 *
 * @param tree Sources by path.
 * @returns One sentence a file and word.
 */
export function wordViolations(tree: ReadonlyMap<string, string>): string[] {
  return Array.from(tree).flatMap(([path, source]) => {
    const isOthers = Object.keys(OTHERS_WORDS).some((known) => path.startsWith(known));
    if (!/^src\/.*\.[tj]s$/.test(path) || isOthers) return [];
    const text = withoutComments(source);
    const found = COMMAND_LINE_WORDS.flatMap((pattern) => text.match(pattern) ?? []);
    return Array.from(
      new Set(found),
      (word) =>
        `${path}: ${word} is a word of the command line; mention it as data (src/core/mention.ts)`,
    );
  });
}
