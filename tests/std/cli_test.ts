/** Tests of src/std/cli.ts: what the published parseArgs does with the same arguments. */
import { parseArgs } from "@std/cli";
import { assertEquals } from "@std/assert";

Deno.test("parseArgs() reads values after a space and after an equals sign", () => {
  const args = parseArgs(["--out", "a b", "--name=x=y", "--json", "file"], {
    string: ["out", "name"],
    boolean: ["json", "help"],
  });
  assertEquals(args, {
    _: ["file"],
    json: true,
    help: false,
    out: "a b",
    name: "x=y",
  });
});

Deno.test("parseArgs() leaves a text flag empty when another flag follows", () => {
  const args = parseArgs(["--out", "--json"], { string: ["out"], boolean: ["json"] });
  assertEquals(args, { _: [], out: "", json: true });
});

Deno.test("parseArgs() collects repeated flags and keeps the last of others", () => {
  const args = parseArgs(["--set", "a=1", "--set=b=2", "--out", "x", "--out", "y"], {
    string: ["set", "out"],
    collect: ["set"],
  });
  assertEquals(args, { _: [], set: ["a=1", "b=2"], out: "y" });
});

Deno.test("parseArgs() negates the flags that may be, and starts from the defaults", () => {
  const options = { boolean: ["gate", "json"], negatable: ["gate"], default: { gate: true } };
  assertEquals(parseArgs([], options), { _: [], gate: true, json: false });
  assertEquals(parseArgs(["--no-gate"], options), { _: [], gate: false, json: false });
  assertEquals(parseArgs(["--no-json"], options)["no-json"], true);
});

Deno.test("parseArgs() turns numbers into numbers except in text flags", () => {
  assertEquals(parseArgs(["7", "--a", "1e3", "--b", "1e3"], { string: ["b"] }), {
    _: [7],
    a: 1000,
    b: "1e3",
  });
  assertEquals(parseArgs(["7"], { string: ["_"] })._, ["7"]);
});

Deno.test("parseArgs() reports what is not declared when unknown is given", () => {
  const seen: unknown[][] = [];
  const args = parseArgs(["--sed", "3", "-h", "-x", "word", "--", "--raw"], {
    boolean: ["help"],
    alias: { help: "h" },
    unknown: (...parts) => {
      seen.push(parts);
      return parts.length === 1;
    },
  });
  assertEquals(args, { _: ["--raw"], help: true });
  assertEquals(seen, [["--sed", "sed", 3], ["-x", "x", "word"], ["--raw"]]);
});
