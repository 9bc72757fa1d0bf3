/** `agentrl vectors`: known-answer tests for the losses and advantages of any trainer, and verdicts about what it gave. */
import { UserError } from "../../src/core/errors.ts";
import { wrapText } from "../../src/core/wrap_text.ts";
import { writeFileAtomic } from "../../src/files/atomic_file.ts";
import { asUserError } from "../../src/files/file_error.ts";
import { writeJson } from "../../src/files/json.ts";
import { formatBytes, MAX_JSON_BYTES, readText } from "../../src/files/read_file.ts";
import { terminalColumns } from "../../src/files/terminal.ts";
import { quoteNonFinite } from "../../src/tokens/json_rows.ts";
import { vectorFile, vectorFileJsonSchema, vectorFileText } from "../../src/vectors/document.ts";
import { VECTOR_FAMILIES } from "../../src/vectors/families.ts";
import type { Family } from "../../src/vectors/family.ts";
import { type JudgedFunction, judgeResults } from "../../src/vectors/judge.ts";
import { readResults, resultsJsonSchema } from "../../src/vectors/results.ts";
import { sayVerdict } from "../../src/vectors/say_verdict.ts";
import { toJson } from "../../src/vectors/values.ts";
import { escapeControls } from "../../src/core/sentence.ts";
import { defineCommand, type Outcome } from "../command.ts";
import { formatColumns } from "../table.ts";

const NAMES = VECTOR_FAMILIES.map(({ name }) => name);

function makeFolder(path: string): void {
  try {
    Deno.mkdirSync(path, { recursive: true });
  } catch (error) {
    throw asUserError(error, `Cannot write ${path}`);
  }
}

function write(folder: string, families: readonly Family[]): Outcome {
  makeFolder(folder);
  const written = families.map((family) => {
    const file = `${family.name}.json`;
    const document = vectorFile(family);
    const text = vectorFileText(document);
    writeFileAtomic(`${folder}/${file}`, text);
    return {
      family: family.name,
      file,
      vectors: family.cases.length,
      dialects: family.dialects.map(({ name }) => name),
      mistakes: family.mistakes.map(({ name }) => name),
      digest: document.digest,
      sizeBytes: text.length,
    };
  });
  writeJson(`${folder}/vectors.schema.json`, vectorFileJsonSchema());
  writeJson(`${folder}/results.schema.json`, resultsJsonSchema());
  const total = written.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return {
    document: { folder, families: written },
    text: [
      ...formatColumns(
        ["family", " vectors", " dialects", " mistakes", "file"],
        written.map(({ family, vectors, dialects, mistakes, file }) => [
          family,
          String(vectors),
          String(dialects.length),
          String(mistakes.length),
          `${folder}/${file}`,
        ]),
      ),
      "",
      ...wrapText(
        `${
          formatBytes(total)
        } in all. docs/vectors.md says how a trainer answers them, and what it ` +
          "writes is judged with --check.",
        { columns: terminalColumns() },
      ),
    ].join("\n"),
  };
}

/** Parses a file that Python may have written, with bare NaN. */
function parse(path: string): unknown {
  const text = readText(path, { maxBytes: MAX_JSON_BYTES });
  for (const read of [(raw: string) => raw, quoteNonFinite]) {
    try {
      return JSON.parse(read(text));
    } catch (error) {
      // RangeError: nested deeper than the parser's stack.
      if (!(error instanceof SyntaxError || error instanceof RangeError)) throw error;
    }
  }
  throw new UserError(
    `Cannot read ${path}: it is not valid JSON; write it as docs/vectors.md shows`,
  );
}

const SIGNS: Readonly<Record<JudgedFunction["verdict"], string>> = {
  matches: "matches",
  "matches-but-edges": "not at edges",
  mistaken: "DIFFERS",
  "low-precision": "16-bit",
  unknown: "DIFFERS",
  incomplete: "incomplete",
  "not-checkable": "not checkable",
};

const LISTED = 3;

function shortly({ dialects }: JudgedFunction): string {
  const rest = dialects.length - LISTED;
  const shown = dialects.slice(0, LISTED).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

function check(path: string): Outcome {
  const judged = judgeResults(readResults(parse(path), { source: path }));
  const columns = terminalColumns();
  const document = {
    functions: judged.map((one) => ({
      ...one,
      differs: one.differs.map((vector) => ({
        ...vector,
        got: toJson(vector.got),
        expected: toJson(vector.expected),
      })),
      sentences: sayVerdict(one),
    })),
  };
  return {
    document,
    text: [
      ...formatColumns(
        ["function", "family", " agree", "verdict", "dialect"],
        judged.map((one) => [
          one.name,
          one.family,
          `${one.agreeing}/${one.judged}`,
          SIGNS[one.verdict],
          shortly(one),
        ]),
      ),
      ...judged.flatMap((one) => {
        const [first = "", ...rest] = sayVerdict(one).map(escapeControls);
        return [
          "",
          ...wrapText(`${escapeControls(one.name)}: ${first}.`, { columns, hanging: 2 }),
          ...rest.flatMap((sentence) =>
            wrapText(`  ${sentence}`, { columns, indent: 2, hanging: 4 })
          ),
        ];
      }),
    ].join("\n"),
    emphasis: [{ pattern: /\b(?:DIFFERS|not at edges|16-bit|incomplete)\b/g, style: "red" }],
    exitCode: judged.every(({ verdict }) => verdict === "matches") ? 0 : 1,
  };
}

/** The command `vectors`. */
export const command = defineCommand({
  flags: {
    out: { kind: "string", help: "folder to write the vectors to, a file for each family" },
    check: {
      kind: "string",
      help: "results of a trainer, which are judged; exit 1 where one differs",
    },
    family: { kind: "string", choices: NAMES, help: "with --out: this family only" },
  },
  run({ out, check: results, family }) {
    if ((out === undefined) === (results === undefined)) {
      throw new UserError(
        "give --out with a folder for the vectors, or --check with a file of results",
      );
    }
    if (results !== undefined) {
      if (family !== undefined) {
        throw new UserError("--check judges the families that the file names: leave --family out");
      }
      return Promise.resolve(check(results));
    }
    const chosen = VECTOR_FAMILIES.filter(({ name }) => family === undefined || name === family);
    return Promise.resolve(write(out ?? "", chosen));
  },
});
