/** Which processes run: what /proc of Linux says. */

/** The numbers of the processes that a process has started and that have not been waited for, of one program or of all. */
export function childrenOf(pid: number, program?: string): readonly number[] {
  const children = namesIn(`/proc/${pid}/task`).flatMap((thread) =>
    textOf(`/proc/${pid}/task/${thread}/children`).split(" ").filter(Boolean).map(Number)
  );
  return children.filter((child) => program === undefined || programOf(child) === program);
}

/** The path under which a process was started; empty where it has ended. */
function programOf(pid: number): string {
  return textOf(`/proc/${pid}/cmdline`).split("\0")[0] ?? "";
}

/** Names in a folder; none where it has gone. */
function namesIn(path: string): string[] {
  try {
    return Array.from(Deno.readDirSync(path), ({ name }) => name);
  } catch {
    return [];
  }
}

/** The text of a file; empty where it has gone: threads and processes come and go. */
function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

/** Whether a process runs: neither ended nor a zombie that nobody waits for. */
export function isAlive(pid: number): boolean {
  return /^\d+ \(.*\) [^Z]/s.test(textOf(`/proc/${pid}/stat`));
}
