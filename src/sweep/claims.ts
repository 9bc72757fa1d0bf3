/**
 * Claims: who works on which cell, where machines share nothing but a file system.
 *
 * A claim is a file that exclusive creation lets one process make. Its owner writes a new beat into it from time to time and
 * holds an advisory lock on it. A claim is dead where its owner is of this machine and the lock is free, or where its beat has
 * stood still for the time-out by this process's own clock: clocks of two machines are never compared. A dead claim is taken
 * over by creating the one of the next generation, which again only one process can; an owner that was thought dead finds the
 * later generation at its next beat and stops.
 */
import { z } from "zod";
import { asUserError } from "../files/file_error.ts";

/** Who holds a claim. */
export interface ClaimOwner {
  /** The machine's name. */
  readonly host: string;
  readonly pid: number;
  /** The scheduler's name of the job, such as `slurm 12_3`; null: none. */
  readonly job: string | null;
}

const claimSchema = z.object({
  token: z.string(),
  host: z.string(),
  pid: z.int(),
  job: z.string().nullable(),
  beat: z.int(),
});

/** What a claim's file holds. */
export type ClaimContent = z.infer<typeof claimSchema>;

/** `ID.GENERATION` */
const NAME = /^([0-9a-f]{16})\.(\d{1,9})$/;

/** A claim as it stands in the folder. */
export interface FoundClaim {
  readonly id: string;
  readonly generation: number;
  readonly path: string;
  /** Undefined: its owner is writing it, or it is damaged. */
  readonly content: ClaimContent | undefined;
  /** When its last beat was written, by the clock of the file system, in milliseconds since 1970. */
  readonly beatMs: number;
}

function readClaim(path: string): Pick<FoundClaim, "content" | "beatMs"> | undefined {
  try {
    const file = Deno.openSync(path, { read: true });
    try {
      const bytes = new Uint8Array(4096);
      const length = file.readSync(bytes) ?? 0;
      const beatMs = file.statSync().mtime?.getTime() ?? 0;
      return { content: parseClaim(new TextDecoder().decode(bytes.subarray(0, length))), beatMs };
    } finally {
      file.close();
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw asUserError(error, `Cannot read ${path}`);
  }
}

function parseClaim(text: string): ClaimContent | undefined {
  try {
    return claimSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // Half written.
  }
}

/**
 * The claims in a folder; of each cell the latest generation.
 *
 * @param folder The folder of the claims; missing: there are none.
 * @throws {UserError} When it cannot be read.
 */
export function listClaims(folder: string): Map<string, FoundClaim> {
  const latest = new Map<string, { readonly name: string; readonly generation: number }>();
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      const [, id, digits] = NAME.exec(name) ?? [];
      if (id === undefined) continue;
      const generation = Number(digits);
      if (generation > (latest.get(id)?.generation ?? -1)) latest.set(id, { name, generation });
    }
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return new Map();
    throw asUserError(error, `Cannot read ${folder}`);
  }
  const found = new Map<string, FoundClaim>();
  for (const [id, { name, generation }] of latest) {
    const path = `${folder}/${name}`;
    const read = readClaim(path);
    if (read !== undefined) found.set(id, { id, generation, path, ...read });
  }
  return found;
}

/** Whether another process of this machine holds the advisory lock of a file. Undefined: the file system has no such locks. */
export function isLocked(path: string): boolean | undefined {
  try {
    using file = Deno.openSync(path, { read: true, write: true });
    return !file.tryLockSync(true);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    return undefined;
  }
}

/** What a process needs to hold claims. */
export interface ClaimsOptions {
  readonly owner: ClaimOwner;
  /** A claim of another machine whose beat stands still for so long is dead. */
  readonly timeoutMs: number;
  /** Milliseconds since any fixed moment; never goes back. */
  readonly nowMs: () => number;
}

/** A claim that this process holds. */
interface HeldClaim {
  readonly path: string;
  readonly generation: number;
  readonly file: Deno.FsFile;
  content: ClaimContent;
}

/** The claims of one process in one sweep. */
export class Claims implements Disposable {
  readonly #folder: string;
  readonly #options: ClaimsOptions;
  readonly #held = new Map<string, HeldClaim>();
  /** What was seen of others' claims, and since when it has looked like this. */
  readonly #seen = new Map<string, { readonly mark: string; readonly sinceMs: number }>();

  /** @param folder The folder of the claims, which exists. */
  constructor(folder: string, options: ClaimsOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  /** Ids of the cells that this process holds. */
  get held(): readonly string[] {
    return [...this.#held.keys()];
  }

  /**
   * Tries to claim a cell.
   *
   * @returns `mine`; or `taken`: another process works on it, as far as is known by now.
   * @throws {UserError} When the folder cannot be written.
   */
  claim(id: string): "mine" | "taken" {
    const existing = listClaims(this.#folder).get(id);
    if (existing === undefined) return this.#create(id, 1) ? "mine" : "taken";
    if (!this.#isDead(existing)) return "taken";
    if (!this.#create(id, existing.generation + 1)) return "taken";
    // Released and made again between two looks: then its owner is somebody who lives.
    const again = readClaim(existing.path);
    if (again !== undefined && again.content?.token !== existing.content?.token) {
      this.release(id);
      return "taken";
    }
    removeIfThere(existing.path);
    this.#seen.delete(id);
    return "mine";
  }

  #isDead(claim: FoundClaim): boolean {
    const { owner, timeoutMs, nowMs } = this.#options;
    const { id, generation, content, path } = claim;
    if (content?.host === owner.host) {
      const locked = isLocked(path);
      if (locked !== undefined) return !locked;
    }
    const mark = `${generation} ${content?.token} ${content?.beat}`;
    const seen = this.#seen.get(id);
    if (seen?.mark === mark) return nowMs() - seen.sinceMs >= timeoutMs;
    this.#seen.set(id, { mark, sinceMs: nowMs() });
    return false;
  }

  /** True where this call made the file, and no other process can have. */
  #create(id: string, generation: number): boolean {
    const path = `${this.#folder}/${id}.${generation}`;
    let file: Deno.FsFile;
    try {
      file = Deno.openSync(path, { read: true, write: true, createNew: true });
    } catch (error) {
      if (error instanceof Deno.errors.AlreadyExists) return false;
      throw asUserError(error, `Cannot write ${path}`);
    }
    try {
      tryLock(file);
      const content = { token: crypto.randomUUID(), ...this.#options.owner, beat: 0 };
      file.writeSync(encode(content));
      this.#held.set(id, { path, generation, file, content });
    } catch (error) {
      file.close();
      removeIfThere(path);
      throw asUserError(error, `Cannot write ${path}`);
    }
    return true;
  }

  /**
   * Writes a beat into every claim that this process holds.
   *
   * @returns Ids of those that it has lost: another process thought it dead and has taken the cell over.
   */
  beat(): string[] {
    const lost: string[] = [];
    for (const [id, held] of this.#held) {
      if (this.#isLost(held)) {
        held.file.close();
        this.#held.delete(id);
        lost.push(id);
        continue;
      }
      held.content = { ...held.content, beat: held.content.beat + 1 };
      const bytes = encode(held.content);
      try {
        held.file.seekSync(0, Deno.SeekMode.Start);
        held.file.writeSync(bytes);
      } catch (error) {
        // A full disk cannot make room for a longer number; the lock still speaks for this process on its own machine.
        if (!(error instanceof Error)) throw error;
      }
    }
    return lost;
  }

  #isLost({ path, generation, content }: HeldClaim): boolean {
    if (readClaim(path)?.content?.token !== content.token) return true;
    try {
      Deno.statSync(path.replace(/\d+$/, String(generation + 1)));
      return true;
    } catch (error) {
      return !(error instanceof Deno.errors.NotFound);
    }
  }

  /** Gives a claim back: the cell is done, has failed, or is free for others. */
  release(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    // Removed while it is locked: nobody sees a claim of this machine that is free and there.
    if (readClaim(held.path)?.content?.token === held.content.token) removeIfThere(held.path);
    held.file.close();
  }

  /** Gives all claims back. */
  [Symbol.dispose](): void {
    for (const id of this.held) this.release(id);
  }
}

function tryLock(file: Deno.FsFile): void {
  try {
    file.tryLockSync(true);
  } catch (error) {
    // A file system without locks: the beat alone speaks.
    if (!(error instanceof Error)) throw error;
  }
}

/** Ends in a line feed. A beat is as long as the one before or longer, so that nothing of that one is left. */
function encode(content: ClaimContent): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(content)}\n`);
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw asUserError(error, `Cannot remove ${path}`);
  }
}
