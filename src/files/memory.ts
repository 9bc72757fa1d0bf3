/** How much memory the machine has free, where a process may ask. */

/** Bytes that are available; undefined where the process may not know. */
export function availableBytes(): number | undefined {
  const { state } = Deno.permissions.querySync({ name: "sys", kind: "systemMemoryInfo" });
  return state === "granted" ? Deno.systemMemoryInfo().available : undefined;
}
