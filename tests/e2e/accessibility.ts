/** What axe-core (github.com/dequelabs/axe-core) finds against a page: rules of WCAG and of good practice. */
import type { Page } from "./devtools.ts";

/** A rule that is broken, and where. */
interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly html: string }[];
}

/** What it brings into the page. */
declare const globalThis: {
  readonly axe: {
    run(): Promise<{ readonly violations: readonly Violation[] }>;
  };
};

/** Prints the script of axe-core. Among our imports the package would come with every command. */
const PRINT_SCRIPT = 'import axe from "npm:axe-core@4.10.3"; console.log(axe.source);';

async function axeScript(): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--no-config", "--no-lock", PRINT_SCRIPT],
    cwd: Deno.makeTempDirSync(),
  }).output();
  const decoder = new TextDecoder();
  if (code === 0) return decoder.decode(stdout);
  throw new Error(`Cannot bring axe-core: ${decoder.decode(stderr)}`);
}

/** Rules that a page breaks, each with the first element. */
export async function accessViolations(page: Page): Promise<string[]> {
  await page.send("Runtime.evaluate", { expression: await axeScript() });
  const violations = await page.evaluate(async () => (await globalThis.axe.run()).violations);
  return violations.map(({ id, impact, nodes }) =>
    `${impact}: ${id} at ${nodes[0]?.html.slice(0, 200)}`
  );
}
