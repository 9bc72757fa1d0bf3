/** Tests of the page's script: one text without module syntax and types that a browser can read. */
import { assert, assertEquals } from "@std/assert";
import { pageScript } from "../../src/report/files/page_script.ts";

const FOLDER = new URL("../../src/report/script/", import.meta.url);

Deno.test("pageScript() is a script that parses, and hands no name to the page", () => {
  const script = pageScript();
  new Function(script); // Throws a SyntaxError where a type, an import or a name twice is left.
  assertEquals(script.match(/^\s*(import|export)\b.*/gm), null);
  assert(script.startsWith('"use strict";\n(() => {\n') && script.endsWith("})();\n"));
  // Of two functions of one name the later would hold, without a word.
  const names = Array.from(
    script.matchAll(/^(?:function|const|class) (\w+)/gm),
    ([, name]) => name,
  );
  assertEquals(names.filter((name, i) => names.indexOf(name) !== i), []);
});

Deno.test("pageScript() holds every module of its folder behind those that it imports", () => {
  const script = pageScript();
  // What a module exports is declared once in one text, so its place in the text is the place of its module.
  const places = new Map<string, number>();
  const imports = new Map<string, string[]>();
  for (const { name } of Deno.readDirSync(FOLDER)) {
    const source = Deno.readTextFileSync(new URL(name, FOLDER));
    const [, mark = ""] = /^export (?:function|const) (\w+)/m.exec(source) ?? [];
    const declaration = new RegExp(`^(?:function|const) ${mark}\\b`, "m");
    places.set(name, mark === "" ? script.length : script.search(declaration));
    imports.set(
      name,
      Array.from(source.matchAll(/^import \{[^}]*\} from "\.\/(\w+\.ts)"/gm), ([, n = ""]) => n),
    );
  }
  for (const [name, others] of imports) {
    const place = places.get(name) ?? -1;
    assert(place > 0, `${name} is not in the script`);
    for (const other of others) {
      assert((places.get(other) ?? Infinity) < place, `${other}, ${name}`);
    }
  }
});
