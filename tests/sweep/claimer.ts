/** A process that wants one cell: claims it as soon as it can, says so, and gives signs of life until it is killed. */
import { Claims } from "../../src/sweep/claims.ts";

const [folder = "", id = "", host = "", timeout = ""] = Deno.args;
const timeoutMs = Number(timeout);
const claims = new Claims(folder, {
  owner: { host, pid: Deno.pid, job: null },
  timeoutMs,
  nowMs: () => performance.now(),
});
console.log("ready");
while (claims.claim(id) === "taken") await new Promise((resolve) => setTimeout(resolve, 5));
console.log("mine");
while (claims.beat().length === 0) {
  await new Promise((resolve) => setTimeout(resolve, timeoutMs / 6));
}
console.log("lost");
