/** Tests of claims: one owner at a time, dead owners replaced exactly once, by this machine's locks and by others' silence. */
import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { Claims, isLocked, listClaims } from "../../src/sweep/claims.ts";
import { namesIn } from "../e2e/command_line.ts";
import { withFolder } from "../files/with_folder.ts";

const ID = "0123456789abcdef";
const TIMEOUT_MS = 1000;

/** Claims of a machine, with a clock that the test moves. */
function machine(folder: string, host: string) {
  const clock = { ms: 0 };
  const owner = { host, pid: 1, job: null };
  const claims = new Claims(folder, { owner, timeoutMs: TIMEOUT_MS, nowMs: () => clock.ms });
  return { claims, clock };
}

/** A claim whose owner is gone: nobody holds its lock, and nothing beats. */
function deadClaim(folder: string, host: string, generation = 1): void {
  const content = { token: `dead-${generation}`, host, pid: 2, job: null, beat: 7 };
  Deno.writeTextFileSync(`${folder}/${ID}.${generation}`, JSON.stringify(content));
}

Deno.test("Claims give a cell to one owner, and to the next when it is released", () =>
  withFolder((folder) => {
    const [a, b] = [machine(folder, "a").claims, machine(folder, "b").claims];
    assertEquals([a.claim(ID), b.claim(ID), a.claim(ID)], ["mine", "taken", "taken"]);
    const [{ content, generation }] = listClaims(folder).values();
    assertEquals([content?.host, content?.beat, generation], ["a", 0, 1]);
    a.release(ID);
    assertEquals([namesIn(folder), a.held], [[], []]);
    assertEquals([b.claim(ID), b.held], ["mine", [ID]]);
    b[Symbol.dispose]();
    assertEquals(namesIn(folder), []);
  }));

Deno.test("Claims of another machine are dead after the time-out by one's own clock, and not while they beat", () =>
  withFolder((folder) => {
    const { claims: owner } = machine(folder, "a");
    const { claims: waiting, clock } = machine(folder, "b");
    owner.claim(ID);
    // Far longer than the time-out in all, with a sign of life in between.
    for (clock.ms = 0; clock.ms < 10 * TIMEOUT_MS; clock.ms += TIMEOUT_MS - 1) {
      assertEquals(waiting.claim(ID), "taken");
      assertEquals(owner.beat(), []);
    }
    waiting.claim(ID);
    clock.ms += TIMEOUT_MS - 1;
    assertEquals(waiting.claim(ID), "taken");
    clock.ms += 1;
    assertEquals(waiting.claim(ID), "mine");
    assertEquals(namesIn(folder), [`${ID}.2`]);
    // The first owner was only slow: it hears that it has lost the cell, and takes nothing from the second.
    assertEquals([owner.beat(), owner.held], [[ID], []]);
    owner.release(ID);
    assertEquals([namesIn(folder), waiting.beat()], [[`${ID}.2`], []]);
    waiting.release(ID);
  }));

Deno.test("Claims of a killed process of the same machine are taken over at once", () =>
  withFolder((folder) => {
    deadClaim(folder, "a");
    assertEquals(machine(folder, "b").claims.claim(ID), "taken");
    using a = machine(folder, "a").claims;
    assertEquals([a.claim(ID), namesIn(folder)], ["mine", [`${ID}.2`]]);
    assertEquals(isLocked(`${folder}/${ID}.2`), true);
    using other = machine(folder, "a").claims;
    assertEquals(other.claim(ID), "taken");
  }));

Deno.test("Claims that are empty or damaged count as silent ones, and other files are ignored", () =>
  withFolder((folder) => {
    for (const text of ["", "{", '{"token": 3}', "\0".repeat(9000)]) {
      Deno.writeTextFileSync(`${folder}/${ID}.1`, text);
      for (const name of ["notes.txt", `${ID}.x`, ID]) {
        Deno.writeTextFileSync(`${folder}/${name}`, "");
      }
      const { claims, clock } = machine(folder, "a");
      assertEquals(claims.claim(ID), "taken");
      clock.ms = TIMEOUT_MS;
      assertEquals(claims.claim(ID), "mine", JSON.stringify(text));
      claims.release(ID);
    }
    assertEquals(namesIn(folder), [ID, `${ID}.x`, "notes.txt"]);
  }));

Deno.test("a dead claim has one heir, however many want it", () =>
  withFolder((folder) => {
    for (let round = 0; round < 20; round++) {
      deadClaim(folder, "dead");
      const heirs = Array.from({ length: 5 }, (_, i) => machine(folder, `heir${i}`));
      for (const { claims } of heirs) assertEquals(claims.claim(ID), "taken");
      for (const { clock } of heirs) clock.ms = TIMEOUT_MS;
      const got = heirs.map(({ claims }) => claims.claim(ID));
      assertEquals(got.filter((answer) => answer === "mine").length, 1);
      heirs.forEach(({ claims }) => claims[Symbol.dispose]());
    }
    assertEquals(namesIn(folder), []);
  }));

/** A process of claimer.ts, and the lines that it has printed. */
function claimer(folder: string, host: string, timeoutMs: number) {
  const script = fileURLToPath(new URL("claimer.ts", import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "-A", script, folder, ID, host, `${timeoutMs}`],
    stdout: "piped",
  }).spawn();
  const lines: string[] = [];
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      lines.push(...text.trim().split("\n"));
    }
  })();
  const kill = async () => {
    child.kill("SIGKILL");
    await child.status;
    await reading;
  };
  return { lines, kill };
}

async function until(holds: () => boolean): Promise<void> {
  for (const deadline = Date.now() + 30_000; !holds();) {
    assert(Date.now() < deadline, "waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

Deno.test("of three processes on three machines one works, and when it and its heir are killed the last one does", () =>
  withFolder(async (folder) => {
    // Long enough that a busy machine does not make a living process look dead.
    const timeoutMs = 1500;
    const all = ["a", "b", "c"].map((host) => claimer(folder, host, timeoutMs));
    let alive = all;
    try {
      await until(() => all.every(({ lines }) => lines.includes("ready")));
      for (let killed = 0; killed < 3; killed++) {
        await until(() => alive.some(({ lines }) => lines.includes("mine")));
        await new Promise((resolve) => setTimeout(resolve, 50));
        const owners = alive.filter(({ lines }) => lines.includes("mine"));
        assertEquals(owners.length, 1);
        assertEquals(listClaims(folder).get(ID)?.generation, killed + 1);
        await owners[0].kill();
        alive = alive.filter((one) => one !== owners[0]);
      }
      assertEquals(all.map(({ lines }) => lines), Array(3).fill(["ready", "mine"]));
    } finally {
      await Promise.all(alive.map(({ kill }) => kill()));
    }
  }));
