/** Tests of the page's server: who is answered, with which headers, and that its end leaves nothing. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../../src/core/errors.ts";
import { LiveContent } from "../../src/watch/live_content.ts";
import { newToken, pageHandler, servePage } from "../../src/watch/serve_page.ts";
import { contentOf } from "./content.ts";

const DOCUMENT = { html: "<!DOCTYPE html><title>x</title>", policy: "default-src 'none'" };
const TOKEN = "secret_token";

function ask(
  path: string,
  { host = "127.0.0.1:8000", method = "GET" }: { host?: string; method?: string } = {},
): Response {
  const handle = pageHandler({
    document: DOCUMENT,
    content: new LiveContent(),
    token: TOKEN,
    port: 8000,
  });
  return handle(new Request(`http://127.0.0.1:8000${path}`, { method, headers: { host } }));
}

Deno.test("the page answers its own address and token, and only reads", async () => {
  const page = ask(`/${TOKEN}/`);
  assertEquals([page.status, await page.text()], [200, DOCUMENT.html]);
  assertEquals(page.headers.get("content-security-policy"), DOCUMENT.policy);
  for (
    const [name, value] of [
      ["cache-control", "no-store"],
      ["referrer-policy", "no-referrer"],
      ["x-content-type-options", "nosniff"],
      ["x-frame-options", "DENY"],
      ["cross-origin-resource-policy", "same-origin"],
    ]
  ) assertEquals(page.headers.get(name), value);
  assertEquals(ask(`/${TOKEN}/`, { host: "localhost:8000" }).status, 200);
  const head = ask(`/${TOKEN}/`, { method: "HEAD" });
  assertEquals([head.status, await head.text()], [200, ""]);
  const events = ask(`/${TOKEN}/events`, { method: "HEAD" });
  assertEquals([events.headers.get("content-type"), await events.text()], [
    "text/event-stream",
    "",
  ]);
});

Deno.test("the page refuses other hosts, methods, tokens and names", () => {
  // A site whose name was made to lead here asks with its own name.
  for (
    const host of ["evil.example:8000", "127.0.0.1:8001", "127.0.0.1", "localhost", "[::1]:8000"]
  ) {
    assertEquals(ask(`/${TOKEN}/`, { host }).status, 421, host);
  }
  for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const answer = ask(`/${TOKEN}/`, { method });
    assertEquals([answer.status, answer.headers.get("allow")], [405, "GET, HEAD"], method);
  }
  for (
    const path of [
      "/",
      "/events",
      `/${TOKEN}`,
      `/${TOKEN}x/`,
      `/${TOKEN.slice(1)}/`,
      `/${TOKEN.toUpperCase()}/`,
      `//${TOKEN}/`,
      `/x/${TOKEN}/`,
      `/${TOKEN}/other`,
      `/${TOKEN}/events/`,
      `/${TOKEN}/..%2f..%2fetc/passwd`,
    ]
  ) assertEquals(ask(path).status, 404, path);
});

Deno.test("the page lets in so many readers, and another when one has left", async () => {
  const handle = pageHandler({
    document: DOCUMENT,
    content: new LiveContent(),
    token: TOKEN,
    port: 8000,
  });
  const open = () =>
    handle(new Request(`http://x/${TOKEN}/events`, { headers: { host: "127.0.0.1:8000" } }));
  const answers = Array.from({ length: 32 }, open);
  assert(answers.every(({ status }) => status === 200));
  assertEquals(open().status, 503);
  await answers[0].body?.cancel();
  const another = open();
  assertEquals(another.status, 200);
  for (const { body } of [...answers.slice(1), another]) await body?.cancel();
});

Deno.test("the page sends a browser that connects again what it has not seen", async () => {
  const content = new LiveContent();
  content.set(contentOf("one", 1));
  const handle = pageHandler({ document: DOCUMENT, content, token: TOKEN, port: 8000 });
  const eventsAfter = async (id: string | undefined) => {
    const headers = { host: "127.0.0.1:8000", ...(id !== undefined && { "last-event-id": id }) };
    const { body } = handle(new Request(`http://x/${TOKEN}/events`, { headers }));
    const reader = body?.getReader();
    await reader?.read();
    const { value } = await reader?.read() ?? {};
    await reader?.cancel();
    return new TextDecoder().decode(value);
  };
  const first = await eventsAfter(undefined);
  const [id] = /(?<=^id: )\S+/m.exec(first) ?? [];
  content.set(contentOf("two", 1));
  const second = await eventsAfter(id);
  assertMatch(second, /"a":"two"/);
  assert(!second.includes("always equal") && first.includes("always equal"));
});

Deno.test("newToken() is of 128 bits and never twice the same", () => {
  const tokens = Array.from({ length: 100 }, newToken);
  assertEquals(new Set(tokens).size, 100);
  for (const token of tokens) assertMatch(token, /^[\w-]{22}$/);
});

Deno.test("servePage() listens on 127.0.0.1 alone, sends events, and at its end says so and is gone", async () => {
  const content = new LiveContent();
  content.set(contentOf("one", 1));
  const served = servePage({ document: DOCUMENT, content, token: TOKEN, port: undefined });
  const { port, hostname } = new URL(served.url);
  assertEquals(hostname, "127.0.0.1");
  assertThrows(
    () => servePage({ document: DOCUMENT, content, token: TOKEN, port: Number(port) }),
    UserError,
    `Cannot listen on port ${port}: another program listens there`,
  );
  assertEquals(await (await fetch(served.url)).text(), DOCUMENT.html);
  const refused = await fetch(served.url, { method: "POST", body: "x" });
  assertEquals(refused.status, 405);
  await refused.body?.cancel();
  const events = await fetch(`${served.url}events`);
  const text = events.text();
  await new Promise((resolve) => setTimeout(resolve, 50));
  content.set(contentOf("two", 1));
  await served[Symbol.asyncDispose]();
  assertMatch(await text, /"one"[\s\S]*"two"[\s\S]*event: end\ndata: \{\}\n\n$/);
  const gone = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }).catch((e) => e);
  assert(gone instanceof Deno.errors.ConnectionRefused);
});
