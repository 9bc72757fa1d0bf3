/** All forms of logs that are read. A new one is a file with a reader, and a line here. */
import { type ConsoleForm, consoleReader } from "./console_reader.ts";
import { consoleSearch } from "./console_search.ts";
import { CSV, WANDB_CSV } from "./csv.ts";
import { HF_CONSOLE } from "./hf_console.ts";
import { HTML_TABLES } from "./html_tables.ts";
import { JSON_LIST } from "./json_list.ts";
import { JSONL } from "./jsonl.ts";
import { MARKDOWN } from "./markdown.ts";
import { METRIC_OBJECTS } from "./metric_objects.ts";
import { NEMO_RL_CONSOLE } from "./nemo_rl_console.ts";
import { NOTEBOOK } from "./notebook.ts";
import { OPENRLHF_CONSOLE } from "./openrlhf_console.ts";
import { PRIME_RL_CONSOLE } from "./prime_rl_console.ts";
import { PRIME_RL_JSONL } from "./prime_rl_jsonl.ts";
import type { LogReader } from "./reader.ts";
import { SKYRL_CONSOLE } from "./skyrl_console.ts";
import { SLIME_CONSOLE } from "./slime_console.ts";
import { SWIFT_JSONL } from "./swift_jsonl.ts";
import { TENSORBOARD } from "./tensorboard.ts";
import { TINKER_JSONL } from "./tinker_jsonl.ts";
import { TRAINER_STATE } from "./trainer_state.ts";
import { VERL_CONSOLE } from "./verl_console.ts";
import { VERL_JSONL } from "./verl_jsonl.ts";
import { WANDB_FILE } from "./wandb_file.ts";
import { WANDB_JSONL } from "./wandb_jsonl.ts";

/** Console logs. Where the head of a file holds rows of several, the first of them reads it. */
const CONSOLE_FORMS: readonly ConsoleForm[] = [
  VERL_CONSOLE,
  SLIME_CONSOLE,
  OPENRLHF_CONSOLE,
  SKYRL_CONSOLE,
  PRIME_RL_CONSOLE,
  NEMO_RL_CONSOLE,
  HF_CONSOLE,
];

/** The readers, in the order in which `agentrl formats` lists them. */
export const LOG_READERS: readonly LogReader[] = [
  TRAINER_STATE,
  SWIFT_JSONL,
  VERL_JSONL,
  PRIME_RL_JSONL,
  TINKER_JSONL,
  WANDB_JSONL,
  ...CONSOLE_FORMS.map(consoleReader),
  WANDB_FILE,
  WANDB_CSV,
  TENSORBOARD,
  NOTEBOOK,
  HTML_TABLES,
  JSONL,
  JSON_LIST,
  CSV,
  MARKDOWN,
  METRIC_OBJECTS,
  consoleSearch(CONSOLE_FORMS),
];
