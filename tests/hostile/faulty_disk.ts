/** A disk that fails, or a process that dies, at a chosen file operation, for the time of one piece of work in this process. */

/** What happens at the operation: the process dies before it, within it (half of the bytes are written), or the disk refuses. */
export type FaultKind = "kill before" | "kill within" | "ENOSPC" | "EIO";

/** Ends the work where the process would have died; every later file operation ends the same way. */
export class Killed extends Error {
  override readonly name = "Killed";
}

const MESSAGES = { ENOSPC: "No space left on device", EIO: "Input/output error" } as const;
const NUMBERS = { ENOSPC: 28, EIO: 5 } as const;

function diskError(code: "ENOSPC" | "EIO"): Error {
  const error = new Error(`${MESSAGES[code]} (os error ${NUMBERS[code]})`);
  return Object.assign(error, { code });
}

/** Operations on the disk that change it, counted and made to fail. */
class FaultyDisk {
  count = 0;
  #isDead = false;
  readonly #at: number;
  readonly #kind: FaultKind;

  constructor(at: number, kind: FaultKind) {
    this.#at = at;
    this.#kind = kind;
  }

  /** Does an operation, or what becomes of it. `half` does a part of it. */
  operate<T>(whole: () => T, half: () => void = () => {}): T {
    if (this.#isDead) throw new Killed();
    const isHit = this.count++ === this.#at;
    if (!isHit) return whole();
    if (this.#kind === "ENOSPC" || this.#kind === "EIO") throw diskError(this.#kind);
    this.#isDead = true;
    if (this.#kind === "kill within") half();
    throw new Killed();
  }
}

/** Replaces functions of an object for the time of a call. */
type Replacement = readonly [owner: object, name: string, value: unknown];

function replaced(disk: FaultyDisk): Replacement[] {
  const { openSync, mkdirSync, renameSync, removeSync, truncateSync } = Deno;
  const { writeSync, syncSync, truncateSync: cutSync } = Deno.FsFile.prototype;
  const changes = (options?: Deno.OpenOptions) => options?.write === true;
  return [
    [
      Deno,
      "openSync",
      (path: string, options?: Deno.OpenOptions) =>
        changes(options) ? disk.operate(() => openSync(path, options)) : openSync(path, options),
    ],
    [
      Deno,
      "mkdirSync",
      (...args: Parameters<typeof mkdirSync>) => disk.operate(() => mkdirSync(...args)),
    ],
    [
      Deno,
      "renameSync",
      (...args: Parameters<typeof renameSync>) => disk.operate(() => renameSync(...args)),
    ],
    [
      Deno,
      "removeSync",
      (...args: Parameters<typeof removeSync>) => disk.operate(() => removeSync(...args)),
    ],
    [
      Deno,
      "truncateSync",
      (...args: Parameters<typeof truncateSync>) => disk.operate(() => truncateSync(...args)),
    ],
    [Deno.FsFile.prototype, "writeSync", function (this: Deno.FsFile, bytes: Uint8Array) {
      return disk.operate(
        () => writeSync.call(this, bytes),
        () => writeSync.call(this, bytes.subarray(0, bytes.length >> 1)),
      );
    }],
    [Deno.FsFile.prototype, "syncSync", function (this: Deno.FsFile) {
      return disk.operate(() => syncSync.call(this));
    }],
    [Deno.FsFile.prototype, "truncateSync", function (this: Deno.FsFile, length?: number) {
      return disk.operate(() => cutSync.call(this, length));
    }],
  ];
}

/** What became of a piece of work. */
export interface FaultOutcome<T> {
  /** Operations that were begun; more than `at` where the fault was met. */
  readonly operations: number;
  readonly result: T | undefined;
  /** What it threw; undefined where it ended by itself. */
  readonly error: unknown;
}

/**
 * Does a piece of work with a fault at one of its file operations.
 *
 * @param options.at The operation, from 0; Infinity counts them only.
 */
export async function withFault<T>(
  work: () => Promise<T>,
  { at, kind }: { readonly at: number; readonly kind: FaultKind },
): Promise<FaultOutcome<T>> {
  const disk = new FaultyDisk(at, kind);
  const originals: Replacement[] = [];
  for (const [owner, name, value] of replaced(disk)) {
    originals.push([owner, name, Reflect.get(owner, name)]);
    Object.defineProperty(owner, name, { value, writable: true, configurable: true });
  }
  try {
    const result = await work();
    return { operations: disk.count, result, error: undefined };
  } catch (error) {
    return { operations: disk.count, result: undefined, error };
  } finally {
    for (const [owner, name, value] of originals) {
      Object.defineProperty(owner, name, { value, writable: true, configurable: true });
    }
  }
}
