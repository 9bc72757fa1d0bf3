/** Which processes run: what /proc of Linux says. */

/** The numbers of the processes that a process has started and that have not been waited for. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return Array.from(
      Deno.readDirSync(`/proc/${pid}/task`),
      ({ name }) =>
        Deno.readTextFileSync(`/proc/${pid}/task/${name}/children`).split(" ").filter(Boolean),
    )
      .flat().map(Number);
  } catch {
    return []; // It, or one of its threads, has ended.
  }
}

/** Whether a process runs: neither ended nor a zombie that nobody waits for. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}
