/** Serves the source tree to pages as modules: types stripped, texts and JSON as default exports. Needs no bundler. */
import { stripTypeScriptTypes } from "node:module";

const ROOT = new URL("../../", import.meta.url);

/** Import attributes; what is imported with one is served as a module. */
const ATTRIBUTES = / with \{\s*type: "(?:text|json)",?\s*\}/g;

/** Folders of packages that the measured code imports, by the path under which they are served. */
function packageFolders(): ReadonlyMap<string, URL> {
  return new Map([["/npm/zod/", new URL(".", import.meta.resolve("zod"))]]);
}

/** A page that imports as deno.json says. */
function emptyPage(): string {
  const imports = {
    "#shaders/": "/shaders/",
    "@std/assert": "/src/std/assert.ts",
    zod: `/npm/zod/${new URL(import.meta.resolve("zod")).pathname.split("/").at(-1)}`,
  };
  return `<!doctype html><title>conformance</title><link rel="icon" href="data:,">` +
    `<script type="importmap">${JSON.stringify({ imports })}</script>`;
}

function asModule(path: string, url: URL): string {
  const text = Deno.readTextFileSync(url);
  if (path.endsWith(".wgsl")) return `export default ${JSON.stringify(text)};`;
  if (path.endsWith(".json")) return `export default ${text};`;
  return path.endsWith(".ts") ? stripTypeScriptTypes(text).replaceAll(ATTRIBUTES, "") : text;
}

function answer(path: string): Response {
  if (path === "/") {
    return new Response(emptyPage(), { headers: { "content-type": "text/html; charset=utf-8" } });
  }
  const [prefix = "/", folder = ROOT] =
    [...packageFolders()].find(([served]) => path.startsWith(served)) ?? [];
  const url = new URL(path.slice(prefix.length), folder);
  if (path.endsWith(".safetensors")) return new Response(Deno.readFileSync(url));
  const headers = { "content-type": "text/javascript; charset=utf-8" };
  return new Response(asModule(path, url), { headers });
}

/** Serves on a free port of this machine until the work with its address is done. */
export async function withModules<T>(use: (address: string) => Promise<T>): Promise<T> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    try {
      return answer(new URL(request.url).pathname);
    } catch (error) {
      return new Response(String(error), { status: 404 });
    }
  });
  try {
    return await use(`http://127.0.0.1:${server.addr.port}/`);
  } finally {
    await server.shutdown();
  }
}
