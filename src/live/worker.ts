/**
 * The script of the worker in which a page trains. Where no worker has WebGPU the page runs the same text as a script of its
 * own and finds the session under `SESSION_NAME`.
 */
import { bytesOf } from "./base64.ts";
import { openSession, type SessionOptions } from "./session.ts";
import { type FromWorker, SESSION_NAME, type ToWorker } from "./worker_messages.ts";

/** What of a worker's scope is used; a page's has no `importScripts`. */
interface Scope {
  readonly importScripts?: unknown;
  onmessage: ((event: { readonly data: ToWorker }) => void) | null;
  postMessage(message: FromWorker): void;
}

/** Listens: the first message begins a session, further ones are requests. */
function listen(scope: Scope): void {
  scope.onmessage = ({ data: options }) => {
    if (!("base" in options)) return;
    const session = openSession({
      ...options,
      base: bytesOf(options.base),
      post: (answer, begun) => scope.postMessage({ answer, begun }),
    });
    scope.onmessage = ({ data }) => {
      if ("kind" in data) session.send(data);
    };
  };
}

const scope = globalThis as unknown as Scope;
if (scope.importScripts !== undefined) listen(scope);
else {
  Object.assign(scope, { [SESSION_NAME]: (options: SessionOptions) => openSession(options) });
}
