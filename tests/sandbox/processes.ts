/** Which processes run: what /proc of Linux says. */

/** The numbers of the processes that a process has started and that have not been waited for, of one program or of all. */
export function childrenOf(pid: number, program?: string): readonly number[] {
  const children: number[] = [];
  try {
    for (const { name } of Deno.readDirSync(`/proc/${pid}/task`)) {
      const numbers = Deno.readTextFileSync(`/proc/${pid}/task/${name}/children`);
      children.push(...numbers.split(" ").filter(Boolean).map(Number));
    }
  } catch {
    // It, or one of its threads, has ended.
  }
  return children.filter((child) => program === undefined || programOf(child) === program);
}

/** The path under which a process was started; empty where it has ended. */
function programOf(pid: number): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`).split("\0")[0] ?? "";
  } catch {
    return "";
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
