/** Tests of the events of a watched page: what a reader is sent, again after it was away, and when it takes nothing. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { eventStream, type EventStreamOptions } from "../../src/watch/event_stream.ts";
import { LiveContent } from "../../src/watch/live_content.ts";
import { contentOf } from "./content.ts";

/** Reads one event after the other. */
function reader(options: Partial<EventStreamOptions> & { readonly content: LiveContent }) {
  const stream = eventStream({ boot: "boot", lastEventId: null, ...options });
  const chunks = stream.getReader();
  const decoder = new TextDecoder();
  const next = async () => {
    const { value, done } = await chunks.read();
    if (done) return undefined;
    const fields = decoder.decode(value).trimEnd().split("\n").map((line) => {
      const [, name = "", text = ""] = /^(\w*): ?(.*)$/.exec(line) ?? [];
      return [name, text] as const;
    });
    return Object.fromEntries(fields) as Record<string, string>;
  };
  return { next, cancel: () => chunks.cancel(), read: () => chunks.read() };
}

const update = (event: Record<string, string> | undefined) => JSON.parse(event?.data ?? "{}");

Deno.test("eventStream() sends everything first, and then what is new", async () => {
  const content = new LiveContent();
  content.set(contentOf("one", 1));
  const { next, cancel } = reader({ content });
  assertEquals(await next(), { retry: "1000" });
  const first = await next();
  assertEquals([first?.id, first?.event], ["boot-1", "update"]);
  assertEquals(update(first).title, "run");
  assertEquals(update(first).parts, { a: "one", b: "always equal" });
  assertEquals(update(first).charts.length, 1);
  content.set(contentOf("two", 1));
  assertEquals(update(await next()), { parts: { a: "two" }, charts: [] });
  content.set(contentOf("two", 2));
  const third = update(await next());
  assertEquals([third.parts, third.charts[0].data.series[0].y], [{}, [0, 2]]);
  content.set(contentOf("two", 2, "run, 1 finding"));
  assertEquals(update(await next()), { title: "run, 1 finding", parts: {}, charts: [] });
  await cancel();
});

Deno.test("eventStream() sends a reader that comes back what it has not seen, and nothing twice", async () => {
  const content = new LiveContent();
  content.set(contentOf("one", 1));
  content.set(contentOf("two", 1));
  content.set(contentOf("two", 2));
  const newFor = async (lastEventId: string | null) => {
    const { next, cancel } = reader({ content, lastEventId, heartbeatMs: 1 });
    await next();
    const event = await next();
    await cancel();
    return event;
  };
  const behind = await newFor("boot-2");
  assertEquals(behind?.id, "boot-3");
  assertEquals([update(behind).parts, update(behind).charts.length], [{}, 1]);
  assertEquals(await newFor("boot-3"), { "": "nothing new" });
  // What another server counted says nothing here, and neither does nonsense.
  for (const other of ["another-3", "boot-x", "boot-", "3", "", "boot--1"]) {
    assertEquals(Object.keys(update(await newFor(other)).parts), ["a", "b"], other);
  }
  assertEquals(await newFor("boot-999"), { "": "nothing new" });
});

Deno.test("eventStream() skips states for a slow reader, holds one chunk, and lets go of one that takes nothing", async () => {
  const content = new LiveContent();
  content.set(contentOf("0", 0));
  let ends = 0;
  const slow = reader({ content, patienceMs: 60, onEnd: () => ends++ });
  await slow.next();
  for (let i = 1; i <= 1000; i++) content.set(contentOf(String(i), i));
  const skipped = [update(await slow.next()), update(await slow.next())];
  const seen = skipped.map(({ parts }) => parts.a);
  // The chunk that waited for it, and the newest.
  assert(seen.includes("1000"), seen.join());
  assertEquals(ends, 0);
  content.set(contentOf("x", 0));
  await new Promise((resolve) => setTimeout(resolve, 200));
  assertEquals(ends, 1);
  await assertRejects(() => slow.read(), Error, "takes nothing");
});

Deno.test("eventStream() says that it lives, that it ends, and once that its reader is gone", async () => {
  const content = new LiveContent();
  content.set(contentOf("one", 1));
  let ends = 0;
  const onEnd = () => ends++;
  const stays = reader({ content, heartbeatMs: 5, onEnd });
  const leaves = reader({ content, onEnd });
  await stays.next();
  await stays.next();
  assertEquals(await stays.next(), { "": "nothing new" });
  await leaves.next();
  await leaves.cancel();
  assertEquals(ends, 1);
  content.set(contentOf("last", 1));
  content.close();
  let event = await stays.next();
  while (event?.event === undefined) event = await stays.next();
  assertEquals(update(event).parts, { a: "last" });
  assertEquals((await stays.next())?.event, "end");
  assertEquals(await stays.next(), undefined);
  assertEquals(ends, 2);
});

Deno.test("LiveContent keeps the version of what is equal, and forgets charts that have gone", () => {
  const content = new LiveContent();
  content.set(contentOf("one", 1));
  content.set(contentOf("one", 1));
  assertEquals([content.version, content.newerThan(1)], [1, undefined]);
  content.set({ ...contentOf("one", 1), charts: [] });
  assertEquals(content.version, 1, "a chart that goes changes the part that held it");
  assertEquals(JSON.parse(content.newerThan(0)?.json ?? "").charts, []);
});
