/** Serves the page on this machine only, to who has its address: it answers reads, and there is nothing that writes. */
import { Buffer } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import { UserError } from "../core/errors.ts";
import type { WatchDocument } from "../report/watch_page.ts";
import { eventStream } from "./event_stream.ts";
import type { LiveContent } from "./live_content.ts";

/** The only address that is listened on. */
const HOST = "127.0.0.1";

/** Open pages at a time: a browser that forgets to close them must not fill the memory. */
const MOST_READERS = 32;

/** A token of 128 bits, in the letters of an address. */
export function newToken(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("base64url");
}

/** Compares texts of any lengths in a time that tells nothing of what is equal. */
function isSecret(given: string, secret: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(secret));
}

/** What is served, and to whom. */
export interface PageOptions {
  readonly document: WatchDocument;
  readonly content: LiveContent;
  readonly token: string;
}

/** Headers of every answer: nothing is kept, guessed, framed, or told to other sites. */
const HEADERS = {
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

function refusal(status: number, text: string, headers: Readonly<Record<string, string>> = {}) {
  return new Response(`${text}\n`, {
    status,
    headers: {
      ...HEADERS,
      "content-security-policy": "default-src 'none'",
      "content-type": "text/plain; charset=utf-8",
      ...headers,
    },
  });
}

/**
 * Answers requests. Checked in this order: that the name in the address is this machine's (a site whose name was made to lead
 * here has another), that something is read, and the token.
 *
 * @param options.port Where it listens.
 */
export function pageHandler(
  { document, content, token, port }: PageOptions & { readonly port: number },
): (request: Request) => Response {
  const hosts = [`${HOST}:${port}`, `localhost:${port}`];
  const boot = crypto.randomUUID();
  let readers = 0;
  const events = (request: Request): Response => {
    if (readers >= MOST_READERS) {
      return refusal(503, "Too many pages are open here: close some.", { "retry-after": "10" });
    }
    readers++;
    const lastEventId = request.headers.get("last-event-id");
    const onEnd = () => readers--;
    return new Response(eventStream({ content, boot, lastEventId, onEnd }), {
      headers: { ...HEADERS, "content-type": "text/event-stream" },
    });
  };
  return (request) => {
    if (!hosts.includes(request.headers.get("host") ?? "")) {
      return refusal(421, "This page is for its own address only.");
    }
    const isHead = request.method === "HEAD";
    if (request.method !== "GET" && !isHead) {
      return refusal(405, "This page can only be read.", { allow: "GET, HEAD" });
    }
    const [, given = "", ...rest] = new URL(request.url).pathname.split("/");
    if (!isSecret(given, token)) return refusal(404, "There is no such page.");
    const name = rest.join("/");
    if (name === "events") {
      return isHead
        ? new Response(null, { headers: { ...HEADERS, "content-type": "text/event-stream" } })
        : events(request);
    }
    if (name !== "" || rest.length === 0) return refusal(404, "There is no such page.");
    return new Response(isHead ? null : document.html, {
      headers: {
        ...HEADERS,
        "content-security-policy": document.policy,
        "content-type": "text/html; charset=utf-8",
      },
    });
  };
}

/** A page that is served. */
export interface ServedPage extends AsyncDisposable {
  /** With its token. */
  readonly url: string;
}

/** Readers get so long to hear of the end. */
const FAREWELL_MS = 500;

/**
 * Begins to serve the page.
 *
 * @param options.port Undefined: a free one.
 * @throws {UserError} When the port is taken, or may not be listened on.
 */
export function servePage(
  options: PageOptions & { readonly port: number | undefined },
): ServedPage {
  const { content, token, port: wanted = 0 } = options;
  const abort = new AbortController();
  // Known once the port is.
  const handler: { handle?: (request: Request) => Response } = {};
  const listen = () => {
    try {
      return Deno.serve({
        hostname: HOST,
        port: wanted,
        signal: abort.signal,
        onListen: () => {},
        // A broken connection is the reader's matter.
        onError: () => refusal(500, "This page could not be served."),
      }, (request) => handler.handle?.(request) ?? refusal(503, "Not yet."));
    } catch (error) {
      if (error instanceof Deno.errors.AddrInUse || error instanceof Deno.errors.PermissionDenied) {
        const why = error instanceof Deno.errors.AddrInUse
          ? "another program listens there"
          : "this user may not";
        throw new UserError(
          `Cannot listen on port ${wanted}: ${why}; name another one, or none for a free one`,
        );
      }
      throw error;
    }
  };
  const server = listen();
  const { port } = server.addr;
  handler.handle = pageHandler({ ...options, port });
  return {
    url: `http://${HOST}:${port}/${token}/`,
    async [Symbol.asyncDispose]() {
      content.close();
      const timer = setTimeout(() => abort.abort(), FAREWELL_MS);
      await server.shutdown().catch(() => {});
      clearTimeout(timer);
    },
  };
}
