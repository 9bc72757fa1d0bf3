/** What the page is to do, done by Deno on its default adapter: rows and hashes of a session, as JSON on standard output. */
import { journalText } from "../../src/core/json_lines.ts";
import type { LiveSettings } from "../../src/live/messages.ts";
import { wholeSession } from "./small_session.ts";

const settings: LiveSettings = JSON.parse(Deno.args[0] ?? "");
const { session, hashes } = await wholeSession(settings, {});
const metrics = session.answers.flatMap((answer) =>
  answer.kind === "stepped" && answer.run === "broken" ? [{ ...answer.row }] : []
);
console.log(JSON.stringify({ hashes, metrics: journalText(metrics) }));
Deno.exit(0);
