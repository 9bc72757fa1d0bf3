/** Holds every text of the repository to plain English: phrases that were mended once must not come back. */
import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** This file, and what other programs wrote. */
const EXEMPT = /^(?:tests\/docs\/phrases_test\.ts|tests\/golden\/|deno\.lock)/;

/** Phrases, and what to say instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/(?<!\b[Tt]here )\bis no (?:JSON|safetensors|row|log|list|object|folder|file)\b/, "is not a …"],
  [
    /(?<!\b[Tt]here )\bis no (?:whole |finite |valid |regular )?(?:number|text|file)\b/,
    "is not a …",
  ],
  [/(?<!\b[Tt]here )\bis no (?:fault|stage|run|report|token|error|value|name)\b/, "is not a …"],
  [/(?<!\b[Tt]here )\bare no (?:numbers|metrics|scalars|logs|names|values)\b/, "are not …"],
  [/\b(?:adapter|GPU|device) that a CPU plays\b/, "a software (CPU) adapter"],
  [/\bdoes (?:a|the) step again\b/, "re-runs a step"],
  [/\bha(?:s|ve) the bits of the record\b/, "is the same bit for bit"],
  [/\bdone again\b/, "redone"],
  [/\bdefaults? stands? in\b/, "the defaults are listed in"],
  [/\bbring(?:s|ing)? (?:as it brings|Deno)\b|\bnpm brings\b/, "installs"],
  [/\banew\b/, "again, afresh, from scratch"],
  [/\bbears? (?:a|no|none)\b/, "carries"],
  [/\bin the place of\b/, "in place of"],
  [/\bwants a look\b/, "is worth a look"],
  [/\bgraver\b/, "more serious"],
  [/\bpassed over\b/, "skipped"],
  [/\bheld against\b/, "compared with"],
  [/\bto be had\b/, "available"],
  [/\bmay not do that there\b/, "permission denied"],
  [/\bknown are\b/, "choose one of"],
  [/\bbound is a mask is\b/, "bound <= 0: a mask is right or wrong"],
  [/\b(?:begin|go on) although\b/, "start even if"],
  [/\b(?:steps?|updates?|mini-?batch|nats|µs) a (?:batch|step|token|rollout)\b/, "… per …"],
  [/\b(?:row|object) a (?:step|line|sequence)\b/, "a row per step"],
  [/\b(?:some|any)thing else than\b/, "something other than"],
  [/\blearnt\b/, "learned, memorized"],
  [/\bstops to come\b/, "stops appearing"],
  [/\bno measure of\b/, "not a measure of"],
  [/\bpaid (?:alike|differently)\b/, "get the same reward, get different rewards"],
  [/\bpaid 0\b/, "given a reward of 0"],
  [/\blenient with\b/, "lenient on"],
  [/\bin mid-sentence\b/, "mid-sentence"],
  [/\bstill is the\b/, "is still the"],
  [/\bstands? behind\b/, "follows"],
  [/\bwhosever\b/, "whoever … to"],
];

/** Text of every file that people read, by path, without the line breaks of paragraphs and comments. */
function texts(): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (folder: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, ROOT))) {
      const path = `${folder}${name}`;
      if (/^(?:\.|node_modules|runs$)/.test(name) || EXEMPT.test(path)) continue;
      if (isDirectory) visit(`${path}/`);
      else if (/\.(?:ts|js|md|wgsl|py|css)$/.test(name) || path === "cli/agentrl") {
        const text = Deno.readTextFileSync(new URL(path, ROOT));
        found.set(path, text.replaceAll(/\s*\n\s*(?:\*|\/\/|#)?\s*/g, " "));
      }
    }
  };
  visit("");
  return found;
}

function offences(all: ReadonlyMap<string, string>): string[] {
  return [...all].flatMap(([path, text]) =>
    PHRASES.flatMap(([pattern, instead]) => {
      const match = pattern.exec(text);
      if (match === null) return [];
      const around = text.slice(Math.max(0, match.index - 30), match.index + match[0].length + 20);
      return [`${path}: …${around}… (instead: ${instead})`];
    })
  );
}

Deno.test("no text of the repository has a phrase that was mended", () => {
  const all = texts();
  assert(all.size > 300);
  assertEquals(offences(all), []);
});

Deno.test("phrases that were mended are found, across lines as well, and what resembles them is not", () => {
  const found = (text: string) =>
    offences(new Map([["a.ts", text.replaceAll(/\s*\n\s*(?:\*|\/\/|#)?\s*/g, " ")]])).length;
  for (
    const bad of [
      "it is no JSON",
      "/**\n * what is no\n * number\n */",
      "refuse an adapter that a CPU plays",
      "does a step again",
      "keys default stand in src",
      "the bound is a mask is right",
      "more than one optimizer step a batch",
      "something else than the advantages",
    ]
  ) assert(found(bad) > 0, bad);
  for (
    const good of [
      "there is no JSON here",
      "is no longer a number",
      "/**\n * Where there\n * is no number\n */",
      "it is not a number",
      "too many; too late",
      "it steps a trainer",
      "one row per step",
    ]
  ) assertEquals(found(good), 0, good);
});
