/** Tests of the one place where text is escaped. */
import { assert, assertEquals } from "@std/assert";
import { escapeHtml, html, idOf, jsonBlock, NOTHING } from "../../src/report/html.ts";

const HOSTILE = `</script><img src=x onerror="alert('1')">&amp;`;

Deno.test("escapeHtml() leaves no character that could end a text or an attribute", () => {
  assertEquals(
    escapeHtml(HOSTILE),
    "&lt;/script&gt;&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;amp;",
  );
});

Deno.test("html() escapes text and numbers and takes markup and lists of it as they are", () => {
  const inner = html`<b>${HOSTILE}</b>`;
  assertEquals(inner.markup, `<b>${escapeHtml(HOSTILE)}</b>`);
  assertEquals(html`${inner}${[inner, NOTHING]}`.markup, inner.markup + inner.markup);
  assertEquals(html`<td>${-0.5}</td>`.markup, "<td>-0.5</td>");
});

Deno.test("html() collects the attachments of its parts, in their order", () => {
  const [a, b] = ["a", "b"].map((id) => ({ markup: id, attachments: [{ kind: "chart", id }] }));
  const ids = html`${a}${[html`<p>${b}</p>`, a]}`.attachments.map(({ id }) => id);
  assertEquals(ids, ["a", "b", "a"]);
});

Deno.test("jsonBlock() holds the data and nothing that ends the element", () => {
  const { markup } = jsonBlock("d", { [HOSTILE]: [HOSTILE, "<!--"] });
  assertEquals(markup.match(/</g)?.length, 2);
  const text = markup.slice(markup.indexOf(">") + 1, markup.lastIndexOf("<"));
  assertEquals(JSON.parse(text), { [HOSTILE]: [HOSTILE, "<!--"] });
});

Deno.test("idOf() joins words to letters, digits and hyphens", () => {
  assertEquals(idOf("run", 0, "kl_0.1 <b>"), "run-0-kl-0-1-b");
  assert(!idOf(HOSTILE).match(/[^a-z0-9-]/));
});
