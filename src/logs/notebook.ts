/** Notebooks: the tables that the Hugging Face notebook callback left in their outputs. */
import { UserError } from "../core/errors.ts";
import { tablesOfHtml } from "./html_tables.ts";
import type { LogInput, LogReader, ReadOptions } from "./reader.ts";
import type { RunLogBuilder } from "./run_log_builder.ts";
import { addStepTables } from "./step_tables.ts";
import { isBinary, textOf } from "./text_lines.ts";

/** Pictures make notebooks large; beyond this they are not opened by their own editors either. */
const MAX_NOTEBOOK_BYTES = 256 * 2 ** 20;

function property(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

const asList = (value: unknown): readonly unknown[] => Array.isArray(value) ? value : [];

/** Text of nbformat: one text, or its lines in a list. */
function asText(value: unknown): string {
  return typeof value === "string"
    ? value
    : asList(value).filter((line) => typeof line === "string").join("");
}

async function readAll(input: LogInput): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let sizeBytes = 0;
  for await (const piece of input.bytes()) {
    sizeBytes += piece.length;
    if (sizeBytes > MAX_NOTEBOOK_BYTES) {
      throw new UserError(
        `Cannot read ${input.name}: it has more than 256 MiB, which no notebook has`,
      );
    }
    parts.push(decoder.decode(piece, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

function parseNotebook(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UserError(
      `Cannot read ${name}: it begins like a notebook but is not valid JSON; it may be cut off, so save it again`,
    );
  }
}

async function readNotebook(
  input: LogInput,
  builder: RunLogBuilder,
  { stepKey }: ReadOptions = {},
): Promise<void> {
  const cells = asList(property(parseNotebook(await readAll(input), input.name), "cells"));
  const tables = cells.flatMap((cell, index) =>
    asList(property(cell, "outputs")).flatMap((output) =>
      tablesOfHtml(asText(property(property(output, "data"), "text/html")), index + 1)
    )
  );
  if (tables.length === 0) {
    throw new UserError(
      `Cannot read ${input.name}: no output of the notebook is a table with a column Step; ` +
        "save it with its outputs, or copy what was printed into a text file",
    );
  }
  addStepTables(tables, { builder, stepKey });
}

/** Notebooks with the outputs of a training. The place of a row is the number of its cell. */
export const NOTEBOOK: LogReader = {
  form: "notebook",
  title: "Jupyter and Colab notebooks (.ipynb) with a table of steps in an output",
  howToGet: ["TRL, Unsloth: train in a notebook and save it with its outputs"],
  maxBytes: MAX_NOTEBOOK_BYTES,
  detect(head) {
    if (isBinary(head)) return 0;
    const text = textOf(head);
    return /^\s*\{/.test(text) && /"(?:cells|nbformat)"\s*:/.test(text) && /"cell_type"/.test(text)
      ? 1
      : 0;
  },
  read: readNotebook,
};
