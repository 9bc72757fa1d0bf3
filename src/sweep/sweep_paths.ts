/** Where the parts of a sweep's folder lie; it needs no package, so that every command may ask. */
import { infoOf, isFolder } from "../files/paths.ts";

/**
 * Where things lie in a sweep's folder.
 *
 * @param path The folder.
 * @returns Paths by what they hold; nothing is created.
 */
export function sweepPaths(path: string) {
  return {
    /** The plan. */
    plan: `${path}/sweep.json`,
    /** A folder for the run of each cell, by its id: an ordinary run of the sweep's command. */
    runs: `${path}/runs`,
    /** One file for each cell that a process works on now. */
    claims: `${path}/claims`,
    /** One file for each cell that is done or has failed. */
    outcomes: `${path}/outcomes`,
    /** What each cell's run wrote on standard error. */
    logs: `${path}/logs`,
    /** What is known of the cells that are done, for a quick look; made again from the folders where it is missing. */
    index: `${path}/index.json`,
    /** Parts of the plan that were handed to a scheduler, its scripts and job ids. */
    jobs: `${path}/jobs`,
    /** Written where the sweep is to stop, wherever it runs. */
    cancel: `${path}/cancel.json`,
  } as const;
}

/** True where a folder holds a sweep; false of a file, and of what is not there. */
export function isSweepFolder(path: string): boolean {
  return isFolder(path) && infoOf(sweepPaths(path).plan)?.isFile === true;
}
