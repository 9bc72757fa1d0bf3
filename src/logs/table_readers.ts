/** The readers of binary forms and of tables. */
import { csvReader, wandbCsvReader } from "./csv.ts";
import { markdownReader } from "./markdown.ts";
import { notebookReader } from "./notebook.ts";
import type { LogReader } from "./reader.ts";
import { tensorboardReader } from "./tensorboard.ts";
import { wandbFileReader } from "./wandb_file.ts";

/** In the order in which `agentrl formats` lists them. */
export const TABLE_READERS: readonly LogReader[] = [
  wandbFileReader,
  wandbCsvReader,
  tensorboardReader,
  notebookReader,
  csvReader,
  markdownReader,
];
