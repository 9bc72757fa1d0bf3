/**
 * Server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) of one reader. It is sent what is newer than what
 * it was sent last, when it has taken that: a slow reader skips states, and no queue grows. One that takes nothing is let go.
 */
import { wait } from "../core/wait.ts";
import type { LiveContent } from "./live_content.ts";

/** How a reader is served. */
export interface EventStreamOptions {
  readonly content: LiveContent;
  /** Names this server among those that have the same address one after the other. */
  readonly boot: string;
  /** What the reader says that it has seen: the header Last-Event-ID. */
  readonly lastEventId: string | null;
  /** Nothing new for so long: a comment shows that the connection is alive (default 15 s). */
  readonly heartbeatMs?: number;
  /** A reader that leaves a chunk for so long is let go (default 30 s). */
  readonly patienceMs?: number;
  /** Told when the reader is gone, however that came. */
  readonly onEnd?: () => void;
}

/** What a browser waits before it connects again. */
const RETRY_MS = 1000;

/** The version in an id of this server's; 0 where it is none. */
function versionOf(lastEventId: string | null, boot: string): number {
  const [, owner, version] = /^(.+)-(\d{1,15})$/.exec(lastEventId ?? "") ?? [];
  return owner === boot ? Number(version) : 0;
}

/**
 * The events for a reader.
 *
 * @returns A stream that ends when the content is closed, after an event `end`.
 */
export function eventStream(
  { content, boot, lastEventId, heartbeatMs = 15_000, patienceMs = 30_000, onEnd }:
    EventStreamOptions,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const stop = new AbortController();
  // A version from the future is of a server that is gone.
  let sent = Math.min(versionOf(lastEventId, boot), content.version);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isEnded = false;
  const end = () => {
    if (isEnded) return;
    isEnded = true;
    clearTimeout(timer);
    stop.abort();
    onEnd?.();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
    },
    async pull(controller) {
      clearTimeout(timer);
      const heartbeat = new AbortController();
      const signal = AbortSignal.any([stop.signal, heartbeat.signal]);
      if (content.newerThan(sent) === undefined && !content.isClosed) {
        await Promise.race([content.changed(), wait(heartbeatMs, signal)]);
      }
      heartbeat.abort(); // Its timer would keep the process alive.
      if (isEnded) return;
      const newer = content.newerThan(sent);
      if (newer) {
        sent = newer.version;
        controller.enqueue(
          encoder.encode(`id: ${boot}-${sent}\nevent: update\ndata: ${newer.json}\n\n`),
        );
      } else if (content.isClosed) {
        controller.enqueue(encoder.encode("event: end\ndata: {}\n\n"));
        controller.close();
        return end();
      } else controller.enqueue(encoder.encode(": nothing new\n\n"));
      timer = setTimeout(() => {
        controller.error(new Error("the reader takes nothing"));
        end();
      }, patienceMs);
    },
    cancel: end,
  });
}
