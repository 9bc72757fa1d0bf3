/** The messages that docs/environments.md shows, and their answers. */

/** A message and its answer. */
export interface Exchange {
  readonly asked: { readonly id: number; readonly type: string };
  readonly answered: {
    readonly id: number;
    readonly answers?: readonly { readonly slot: number }[];
  };
}

function readConversation(): Exchange[] {
  const page = Deno.readTextFileSync(new URL("../../docs/environments.md", import.meta.url));
  const [, block = ""] = /^```jsonl\n(.*?)^```$/ms.exec(page) ?? [];
  const lines = block.trim().split("\n").map((line) => JSON.parse(line));
  return lines.flatMap((asked, i) => i % 2 === 0 ? [{ asked, answered: lines[i + 1] }] : []);
}

/** What the page shows. */
export const CONVERSATION: readonly Exchange[] = readConversation();
