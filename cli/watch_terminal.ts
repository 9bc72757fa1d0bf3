/** Shows watched runs on a terminal, or line by line where stdout is none. */
import { writeText } from "../src/files/terminal.ts";
import { escapeControls } from "../src/core/sentence.ts";
import type { Notice, WatchedRun } from "../src/report/watch_data.ts";
import { stateFacts } from "../src/report/watch_run.ts";
import { drawn, ENTER_SCREEN, LEAVE_SCREEN, screenLines } from "./watch_screen.ts";

/** Shows runs, until it is disposed of. */
export interface RunDisplay extends Disposable {
  show(runs: readonly WatchedRun[]): void;
}

/** Smaller ones are drawn as if they had this: a terminal that says 0 would show nothing. */
const LEAST = { columns: 20, rows: 5 };

function sizeNow(): { columns: number; rows: number } {
  const { columns, rows } = Deno.consoleSize();
  return { columns: Math.max(LEAST.columns, columns), rows: Math.max(LEAST.rows, rows) };
}

/** The other screen of a terminal; what stood there before is there again afterwards. */
export function screenDisplay(): RunDisplay {
  let shown: readonly WatchedRun[] = [];
  const draw = () => {
    const lines = screenLines(shown, {
      ...sizeNow(),
      hasColours: !Deno.noColor,
      nowMs: Date.now(),
    });
    writeText(Deno.stdout, drawn(lines));
  };
  writeText(Deno.stdout, ENTER_SCREEN);
  // Windows have no such signal; there the next update draws in the new size.
  const hasResize = Deno.build.os !== "windows";
  if (hasResize) Deno.addSignalListener("SIGWINCH", draw);
  return {
    show(runs) {
      shown = runs;
      draw();
    },
    [Symbol.dispose]() {
      if (hasResize) Deno.removeSignalListener("SIGWINCH", draw);
      try {
        writeText(Deno.stdout, LEAVE_SCREEN);
      } catch {
        // The terminal is gone, and its screens with it.
      }
    },
  };
}

/** A run as a line: `trl_run: step 48 of 48; reward 0.31 (reward)`. */
export function stateLine(run: WatchedRun): string {
  const facts = stateFacts(run).filter(([key]) => key !== "run")
    .map(([key, value]) => key === "now" ? value : `${key} ${value}`);
  return escapeControls(`${run.name}: ${facts.join("; ")}`);
}

/** What is known of a run as a document for programs. */
export function runDocument({ name, path, view, pace, findings, problem, pending }: WatchedRun) {
  return {
    run: name,
    path,
    step: view?.steps[view.steps.length - 1] ?? null,
    plannedSteps: pace.plannedSteps ?? null,
    tokensPerSecond: pace.tokensPerSecond?.value ?? null,
    leftMs: pace.left === undefined ? null : Math.round(pace.left.durationMs),
    problem: problem ?? pending ?? null,
    findings: findings.map(({ id, class: kind, step, sentence }) => ({
      id,
      class: kind,
      step: step ?? null,
      sentence,
    })),
  };
}

/** A line whenever something is another than it was: what happened, and how far each run is. */
export function lineDisplay(
  { json, write }: { readonly json: boolean; readonly write: (line: string) => void },
): RunDisplay {
  const said = new Map<string, string>();
  const noticed = new Map<string, Notice | undefined>();
  const showRun = (run: WatchedRun) => {
    const { name, notices, problem, pending } = run;
    const from = notices.findLastIndex((notice) => notice === noticed.get(name)) + 1;
    noticed.set(name, notices.at(-1));
    if (!json) {
      for (const { text, more } of notices.slice(from)) {
        write(escapeControls(`${name}: ${text}${more === undefined ? "" : `: ${more}`}`));
      }
    }
    const state = json
      ? escapeControls(JSON.stringify(runDocument(run)))
      : problem !== undefined || pending !== undefined
      ? escapeControls(`${name}: ${problem ?? pending}`)
      : stateLine(run);
    if (said.get(name) === state) return;
    said.set(name, state);
    write(state);
  };
  return { show: (runs) => runs.forEach(showRun), [Symbol.dispose]() {} };
}
