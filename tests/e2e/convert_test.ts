/** Tests of `agentrl formats` and `agentrl convert` as child processes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { LOG_READERS } from "../../src/logs/readers.ts";
import { withFolder } from "../files/with_folder.ts";
import { bytesOf, scalarEvent } from "../logs/wire_bytes.ts";
import { agentrl, assertRefused } from "./command_line.ts";
import { agentrlHere, commandTest } from "./in_process.ts";

const CSV = "step,rewrd,loss\n1,0.5,nan\n2,0.25,-0\n";

Deno.test("agentrl formats lists every reader in 80 columns", async () => {
  const { code, stdout } = await agentrl(["formats"]);
  assertEquals(code, 0);
  for (const { form } of LOG_READERS) assertMatch(stdout, new RegExp(`^${form}: `, "m"));
  assert(stdout.split("\n").every((line) => line.length <= 80));
  const { formats } = JSON.parse((await agentrlHere(["formats", "--json"])).stdout);
  assertEquals(
    formats.map(({ form }: { form: string }) => form),
    LOG_READERS.map(({ form }) => form),
  );
});

Deno.test("agentrl convert writes JSONL, renames keys, and says what unknown ones resemble", () =>
  withFolder(async (folder) => {
    Deno.writeTextFileSync(`${folder}/log.csv`, CSV);
    const out = `${folder}/out.jsonl`;
    const plain = await agentrl(["convert", `${folder}/log.csv`, "--out", out]);
    assertEquals(plain.code, 0, plain.stderr);
    assertMatch(plain.stdout, /rewrd +--map rewrd=reward, if it is that/);
    assert(plain.stdout.split("\n").every((line) => line.length <= 80 || line.includes(folder)));
    assertEquals(
      Deno.readTextFileSync(out),
      '{"step":1,"rewrd":0.5,"loss":"NaN"}\n{"step":2,"rewrd":0.25,"loss":-0}\n',
    );
    const mapped = await agentrl(
      ["convert", `${folder}/log.csv`, "--out", out, "--map", "rewrd=reward", "--json"],
    );
    const document = JSON.parse(mapped.stdout);
    assertEquals(document.keys, ["reward", "loss"]);
    assertEquals([document.source.form, document.source.rows, document.unknown], ["csv", 2, []]);
    const again = await agentrl(["convert", out, "--out", `${folder}/again.jsonl`]);
    assertEquals(again.code, 0, again.stderr);
    assertEquals(Deno.readTextFileSync(`${folder}/again.jsonl`), Deno.readTextFileSync(out));
  }));

Deno.test("agentrl convert reads standard input, also packed and binary", () =>
  withFolder(async (folder) => {
    const convert = async (content: Uint8Array, out: string) => {
      const path = `${folder}/input`;
      Deno.writeFileSync(path, content);
      const launcher = new URL("../../cli/agentrl", import.meta.url).pathname;
      const script = `cat "${path}" | "${launcher}" convert - --out "${out}"`;
      const { code, stderr } = await new Deno.Command("sh", { args: ["-c", script] }).output();
      assertEquals(code, 0, new TextDecoder().decode(stderr));
      return Deno.readTextFileSync(out);
    };
    const events = bytesOf(scalarEvent(1, "loss", 0.5), scalarEvent(2, "loss", -2));
    const stream = new Blob([events as BlobPart]).stream()
      .pipeThrough(new CompressionStream("gzip"));
    const packed = new Uint8Array(await new Response(stream).arrayBuffer());
    const expected = '{"step":1,"loss":0.5}\n{"step":2,"loss":-2}\n';
    assertEquals(await convert(events, `${folder}/a.jsonl`), expected);
    assertEquals(await convert(packed, `${folder}/b.jsonl`), expected);
  }));

commandTest(
  "agentrl convert refuses bad input with one sentence and writes nothing",
  () =>
    withFolder(async (folder) => {
      const log = `${folder}/log.csv`;
      const out = `${folder}/out.jsonl`;
      Deno.writeTextFileSync(log, CSV);
      Deno.linkSync(log, `${folder}/link.csv`);
      const refuses = async (args: readonly string[], sentence: RegExp) =>
        assertRefused(await agentrlHere(["convert", ...args]), { code: 2, sentence });
      await refuses([log], /--out is required/);
      await refuses([log, "--out", `${folder}/link.csv`], /which this command reads/);
      await refuses([log, "--out", out, "--map", "x"], /--map must be THEIRS=OURS/);
      await refuses([log, "--out", out, "--map", "lss=x"], /has no key lss; did you mean "loss"/);
      await refuses([log, "--out", out, "--map", "loss=rewrd"], /has a key rewrd already/);
      await refuses([log, "--out", out, "--map", "a=x", "--map", "b=x"], /--map names x twice/);
      await refuses([`${folder}/none`, "--out", out], /there is no such file or folder/);
      await refuses([folder, "--out", `${folder}/none/x.jsonl`], /Cannot write/);
      assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name).sort(), [
        "link.csv",
        "log.csv",
      ]);
      assertEquals(Deno.readTextFileSync(log), CSV);
    }),
);

Deno.test("agentrl convert writes a token dump as the common dump, and nothing where a row is damaged", () =>
  withFolder(async (folder) => {
    const row = { export_sequence_idx: 0, step: 3, token_ids: [5, 6], loss_mask: [false, true] };
    const exported = `${folder}/rank_0.jsonl`;
    Deno.writeTextFileSync(exported, `${JSON.stringify(row)}\n`);
    const out = `${folder}/out/tokens.jsonl`;
    Deno.mkdirSync(`${folder}/out`);
    const { code, stdout, stderr } = await agentrl(["convert", exported, "--out", out, "--json"]);
    assertEquals(code, 0, stderr);
    const { source, sequences, tokens } = JSON.parse(stdout);
    assertEquals([source.form, sequences, tokens], ["token_exports", 1, 2]);
    const common = { v: 1, step: 3, phase: "pre", ids: [5, 6], mask: [0, 1] };
    assertEquals(Deno.readTextFileSync(out), `${JSON.stringify(common)}\n`);
    Deno.writeTextFileSync(exported, `${JSON.stringify({ ...row, loss_mask: [] })}\n`);
    const damaged = await agentrl(["convert", exported, "--out", out]);
    assertEquals(damaged.code, 2);
    assertMatch(damaged.stderr, /rank_0\.jsonl, row 1: loss_mask has 0 values/);
    assertEquals(Array.from(Deno.readDirSync(`${folder}/out`), ({ name }) => name), [
      "tokens.jsonl",
    ]);
    assertEquals(Deno.readTextFileSync(out), `${JSON.stringify(common)}\n`);
  }));
