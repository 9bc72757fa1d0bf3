/** `agentrl watch`: a page on this machine, or a screen, that follows runs of any trainer while they grow. */
import { UserError } from "../../src/core/errors.ts";
import { sayFinding } from "../../src/diagnose/finding.ts";
import { judgeLog } from "../../src/diagnose/findings/judge_log.ts";
import { remark, writeText } from "../../src/files/terminal.ts";
import { CHART_JS_VERSION, readChartJs } from "../../src/report/files/chart_js.ts";
import { watchScript } from "../../src/report/files/page_script.ts";
import { NO_TEXTS, readTokenizer } from "../../src/report/files/token_texts.ts";
import { grave, type WatchedRun } from "../../src/report/watch_data.ts";
import { watchContent, watchDocument } from "../../src/report/watch_page.ts";
import { isSweepFolder, sweepPaths } from "../../src/sweep/sweep_paths.ts";
import type { RunReading } from "../../src/watch/follow_run.ts";
import { LiveContent } from "../../src/watch/live_content.ts";
import { newToken, servePage } from "../../src/watch/serve_page.ts";
import { distinctNames, watchRuns } from "../../src/watch/watch_runs.ts";
import { defineCommand, type Outcome } from "../command.ts";
import type { FlagValues } from "../flags.ts";
import { COMMAND_WORDS } from "../next_command.ts";
import { growingViewReader, JUDGE_FLAGS, readAgainst } from "../read_log.ts";
import { lineDisplay, type RunDisplay, runDocument, screenDisplay } from "../watch_terminal.ts";

const FLAGS = {
  terminal: {
    kind: "boolean",
    help: "one refreshed screen in this terminal instead of a page; lines where it is none",
  },
  port: {
    kind: "integer",
    min: 1,
    max: 65535,
    help: "where the page is served, on 127.0.0.1 alone (default: a free port)",
  },
  tokenizer: {
    kind: "string",
    help: "the folder of a Hugging Face tokenizer.json: tokens of dumps are shown as text",
  },
  ...JUDGE_FLAGS,
  json: {
    kind: "boolean",
    help: "JSON lines on stdout: the page's address, or each change of a run; at the end all runs",
  },
} as const;

type Values = FlagValues<typeof FLAGS>;

/** Runs side by side beyond which a page and a screen say little. */
const MOST_RUNS = 20;

/** Signals that end the watch, and nothing else. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

/** Hears the signals until it is disposed of. */
class Ending implements Disposable {
  readonly #stop = new AbortController();
  readonly #listeners: (readonly [keyof typeof SIGNALS, () => void])[] = [];
  code: 129 | 130 | 143 = 130;

  constructor() {
    for (const signal of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]) {
      const listener = () => {
        this.code = SIGNALS[signal];
        this.#stop.abort();
      };
      Deno.addSignalListener(signal, listener);
      this.#listeners.push([signal, listener]);
    }
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Ends it where the reader of stdout is gone. */
  stop(): void {
    this.#stop.abort();
  }

  [Symbol.dispose](): void {
    for (const [signal, listener] of this.#listeners) Deno.removeSignalListener(signal, listener);
  }
}

async function readingOf(flags: Values): Promise<RunReading> {
  const { tokenizer } = flags;
  const against = await readAgainst(flags);
  return {
    readView: growingViewReader(flags),
    judge: (view) => judgeLog(view, { against }).map((found) => sayFinding(found, COMMAND_WORDS)),
    words: COMMAND_WORDS,
    textOf: tokenizer === undefined ? NO_TEXTS : await readTokenizer(tokenizer),
    nowMs: () => Date.now(),
  };
}

function outcomeOf(runs: readonly WatchedRun[], exitCode: 129 | 130 | 143): Outcome {
  const count = runs.reduce((sum, run) => sum + grave(run).length, 0);
  const findings = count === 1 ? "1 finding" : `${count} findings`;
  return {
    document: { runs: runs.map(runDocument) },
    text: `Stopped watching, with ${findings} that ${
      count === 1 ? "asks" : "ask"
    } for a look. What was watched is untouched.`,
    exitCode,
  };
}

/** Watches until it is told to end, which waits for no reading of a long log. @returns The runs as they were shown last. */
async function watchUntilEnded(
  paths: readonly string[],
  { reading, ending, show }: {
    readonly reading: RunReading;
    readonly ending: Ending;
    readonly show: (runs: readonly WatchedRun[]) => void;
  },
): Promise<readonly WatchedRun[]> {
  const { signal } = ending;
  let shown: readonly WatchedRun[] = [];
  const onChange = (runs: readonly WatchedRun[]) => {
    shown = runs;
    if (!signal.aborted) show(runs);
  };
  const ended = new Promise((resolve) => signal.addEventListener("abort", resolve));
  await Promise.race([watchRuns(paths, { ...reading, signal, onChange }), ended]);
  return shown;
}

async function watchOnTerminal(
  paths: readonly string[],
  { json, reading, ending }: {
    readonly json: boolean;
    readonly reading: RunReading;
    readonly ending: Ending;
  },
): Promise<readonly WatchedRun[]> {
  const isScreen = !json && Deno.stdout.isTerminal();
  using display: RunDisplay = isScreen
    ? screenDisplay()
    : lineDisplay({ json, write: (line) => writeText(Deno.stdout, `${line}\n`) });
  return await watchUntilEnded(paths, {
    reading,
    ending,
    show: (runs) => {
      try {
        display.show(runs);
      } catch (error) {
        if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
        ending.stop();
      }
    },
  });
}

async function watchOnPage(
  paths: readonly string[],
  { flags, reading, ending }: {
    readonly flags: Values;
    readonly reading: RunReading;
    readonly ending: Ending;
  },
): Promise<readonly WatchedRun[]> {
  const content = new LiveContent();
  const document = await watchDocument(distinctNames(paths), {
    chartJs: readChartJs(),
    chartJsVersion: CHART_JS_VERSION,
    page: watchScript(),
  });
  await using page = servePage({ document, content, token: newToken(), port: flags.port });
  const { url } = page;
  writeText(Deno.stdout, flags.json ? `${JSON.stringify({ url })}\n` : `${url}\n`);
  if (!flags.json) {
    remark("Open it in a browser on this machine. Ctrl-C ends the page, and nothing else.\n");
  }
  return await watchUntilEnded(paths, {
    reading,
    ending,
    show: (runs) => content.set(watchContent(runs)),
  });
}

/** The command `watch`. */
export const command = defineCommand({
  positionals: ["PATH…"],
  flags: FLAGS,
  async run(flags, paths) {
    if (paths.includes("-")) throw new UserError("name files or folders: - cannot be watched");
    const sweep = paths.find(isSweepFolder);
    if (sweep !== undefined) {
      // Otherwise the log of any one of its cells would be taken for the whole.
      throw new UserError(
        `Cannot watch ${sweep}: it is a sweep; name runs in ${sweepPaths(sweep).runs}`,
      );
    }
    if (paths.length > MOST_RUNS) {
      throw new UserError(
        `${paths.length} runs are too many for a page: name at most ${MOST_RUNS}`,
      );
    }
    if (flags.terminal && flags.port !== undefined) {
      throw new UserError("--port belongs to the page: leave it or --terminal out");
    }
    using ending = new Ending();
    const reading = await readingOf(flags);
    const runs = flags.terminal
      ? await watchOnTerminal(paths, { json: flags.json, reading, ending })
      : await watchOnPage(paths, { flags, reading, ending });
    return outcomeOf(runs, ending.code);
  },
});
