/** What the page shows, each part with the version in which it last changed: whoever saw a version is sent what is newer. */
import type { WatchContent } from "../report/watch_data.ts";

interface Part {
  readonly version: number;
  /** As it is sent. */
  readonly json: string;
}

/** What is newer than some version, as one line of JSON. */
export interface Newer {
  readonly version: number;
  /** A `WatchUpdate`. */
  readonly json: string;
}

/** The content of a page that changes. Nothing of its past is kept, however far behind a reader is. */
export class LiveContent {
  #version = 0;
  #title: Part = { version: 0, json: '""' };
  #parts = new Map<string, Part>();
  #charts = new Map<string, Part>();
  #change = Promise.withResolvers<void>();
  #isClosed = false;

  /** Its number grows with every change. */
  get version(): number {
    return this.#version;
  }

  /** True when nothing will change any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Replaces the content. What is equal keeps its version. */
  set({ title, parts, charts }: WatchContent): void {
    const version = this.#version + 1;
    const next = (known: Part | undefined, value: unknown): Part => {
      const json = JSON.stringify(value);
      return known?.json === json ? known : { version, json };
    };
    this.#title = next(this.#title, title);
    this.#parts = new Map(
      Array.from(parts, ([id, markup]) => [id, next(this.#parts.get(id), markup)]),
    );
    this.#charts = new Map(charts.map((chart) => {
      const { id } = chart.data;
      return [id, next(this.#charts.get(id), chart)];
    }));
    const all = [this.#title, ...this.#parts.values(), ...this.#charts.values()];
    if (all.every((part) => part.version < version)) return;
    this.#version = version;
    this.#tell();
  }

  /** Ends it: who waits for a change waits no longer. */
  close(): void {
    this.#isClosed = true;
    this.#tell();
  }

  /** Resolves at the next change, or when it is closed. */
  changed(): Promise<void> {
    return this.#isClosed ? Promise.resolve() : this.#change.promise;
  }

  /** What is newer than a version; undefined: nothing. @param version 0: of a reader that has seen nothing. */
  newerThan(version: number): Newer | undefined {
    if (version >= this.#version) return undefined;
    const isNewer = (part: Part) => part.version > version;
    const parts = [...this.#parts].filter(([, part]) => isNewer(part))
      .map(([id, { json }]) => `${JSON.stringify(id)}:${json}`);
    const charts = [...this.#charts.values()].filter(isNewer).map(({ json }) => json);
    const title = isNewer(this.#title) ? `"title":${this.#title.json},` : "";
    return {
      version: this.#version,
      json: `{${title}"parts":{${parts.join()}},"charts":[${charts.join()}]}`,
    };
  }

  #tell(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }
}
