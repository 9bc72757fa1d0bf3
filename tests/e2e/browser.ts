/** A headless Chromium for tests: started by hand with few rights, driven by its DevTools protocol, gone at the end. */
import { Browser, type Page } from "./devtools.ts";

/** Programs that will do, as they are called on Debian, on other Linuxes and on a Mac. */
const PROGRAMS = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** No network of its own, no GPU, and no sandbox, since tests may run as root; pages come from this machine only. */
const ARGUMENTS = [
  "--headless=new",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--no-first-run",
  "--remote-debugging-port=0",
  "about:blank",
];

/** What gives pages WebGPU by the software driver that the browser brings along. */
const WEBGPU_ARGUMENTS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** A start on a busy machine takes seconds. */
const START_MS = 30_000;

/**
 * The browser's program.
 * @throws {Error} When there is none.
 */
export function findProgram(): string {
  const found = PROGRAMS.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
  if (found !== undefined) return found;
  throw new Error(
    "Cannot test pages: there is no browser here; install Chromium (on Debian: apt-get install chromium) or Google Chrome",
  );
}

/** The address under which the browser listens, which it writes into its profile once it does. */
async function debuggerAddress(profile: string): Promise<string> {
  const endMs = performance.now() + START_MS;
  while (performance.now() < endMs) {
    try {
      const [port, path] = Deno.readTextFileSync(`${profile}/DevToolsActivePort`).split("\n");
      if (port && path) return `ws://127.0.0.1:${port}${path}`;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Cannot test pages: the browser did not start within ${START_MS / 1000} s`);
}

/**
 * Starts a browser, hands it to `use`, and ends it, whatever happens.
 * @param options.webGpu Its pages have WebGPU (default false).
 */
export async function withBrowser(
  use: (browser: Browser) => Promise<void>,
  { webGpu = false }: { readonly webGpu?: boolean } = {},
): Promise<void> {
  const program = findProgram();
  const profile = Deno.makeTempDirSync({ prefix: "agentrl-browser-" });
  const child = new Deno.Command(program, {
    args: [`--user-data-dir=${profile}`, ...(webGpu ? WEBGPU_ARGUMENTS : []), ...ARGUMENTS],
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  try {
    const browser = await Browser.connect(await debuggerAddress(profile));
    try {
      await use(browser);
    } finally {
      await browser.close();
    }
  } finally {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
    await child.status;
    // Its helpers may still be writing.
    for (let attempt = 0; attempt < 20; attempt++) {
      try {
        Deno.removeSync(profile, { recursive: true });
        break;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
}

/** What a page did that a report must not do. */
export interface Watched {
  readonly page: Page;
  /** Errors on the console, uncaught ones, and addresses of requests other than the file itself. */
  readonly complaints: string[];
}

/** What an event of a page has to complain about: an error or warning, or the address that is requested. */
function complaintOf(
  method: string,
  params: Readonly<Record<string, unknown>>,
): string | undefined {
  const { type, entry, request } = params as {
    readonly type?: string;
    readonly entry?: { readonly level: string; readonly text: string };
    readonly request?: { readonly url: string };
  };
  switch (method) {
    case "Runtime.consoleAPICalled":
      return ["error", "warning", "assert"].includes(type ?? "")
        ? JSON.stringify(params)
        : undefined;
    case "Runtime.exceptionThrown":
      return JSON.stringify(params);
    case "Log.entryAdded":
      return ["error", "warning"].includes(entry?.level ?? "") ? entry?.text : undefined;
    case "Network.requestWillBeSent":
      return request?.url;
    default:
      return undefined;
  }
}

/** How a page is looked at. */
interface Looks {
  readonly width?: number;
  readonly javaScript?: boolean;
  readonly scheme?: "light" | "dark";
}

/** Opens an address. @param options.own Addresses below it are its own: requests of them are no complaint. */
export async function openPage(
  browser: Browser,
  { url, own, width = 1200, javaScript = true, scheme = "light" }: Looks & {
    readonly url: string;
    readonly own: string;
  },
): Promise<Watched> {
  const complaints: string[] = [];
  const page = await browser.newPage((method, params) => {
    const complaint = complaintOf(method, params);
    if (complaint !== undefined && !complaint.startsWith(own)) complaints.push(complaint);
  });
  await page.send("Emulation.setScriptExecutionDisabled", { value: !javaScript });
  await resize(page, width);
  await page.send("Emulation.setEmulatedMedia", {
    features: [{ name: "prefers-color-scheme", value: scheme }],
  });
  await page.goto(url);
  return { page, complaints };
}

/** Gives a page's window another width. */
export async function resize(page: Page, width: number): Promise<void> {
  await page.send("Emulation.setDeviceMetricsOverride", {
    width,
    height: 900,
    deviceScaleFactor: 1,
    mobile: false,
  });
}

/** Opens a file. */
export function openFile(
  browser: Browser,
  { path, ...looks }: Looks & { readonly path: string },
): Promise<Watched> {
  return openPage(browser, { ...looks, url: `file://${path}`, own: `file://${path}` });
}
