/** Pages of a browser, driven by the Chrome DevTools Protocol (chromedevtools.github.io/devtools-protocol) over its WebSocket. */

/** What functions that run in a page may use of an element. */
export interface PageElement {
  readonly textContent: string | null;
  readonly className: string;
  querySelector(selector: string): PageElement | null;
  getBoundingClientRect(): { readonly height: number };
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  focus(): void;
}

/** What the functions of `evaluate` find in the page. */
declare const document: {
  readonly title: string;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
};

/** Keys as the protocol wants them. */
const KEYS = {
  Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
  ArrowRight: { key: "ArrowRight", code: "ArrowRight", windowsVirtualKeyCode: 39 },
  Space: { key: " ", code: "Space", windowsVirtualKeyCode: 32, text: " " },
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  Escape: { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 },
} as const;

/** A message of the browser: an answer, which carries the number of its question, or an event. */
interface Message {
  readonly id?: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly sessionId?: string;
}

/** Hears the events of a page. */
type Listener = (method: string, params: Readonly<Record<string, unknown>>) => void;

/** A connection to a running browser. */
export class Browser {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, PromiseWithResolvers<Readonly<Record<string, unknown>>>>();
  readonly #listeners = new Map<string, Listener>();
  #questions = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#hear(JSON.parse(data));
    socket.onclose = () => {
      for (const { reject } of this.#waiting.values()) reject(new Error("the browser is gone"));
    };
  }

  /** Connects to the address under which a browser listens. */
  static async connect(address: string): Promise<Browser> {
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = () => reject(new Error(`Cannot connect to the browser at ${address}`));
    });
    return new Browser(socket);
  }

  #hear({ id, result, error, method, params = {}, sessionId = "" }: Message): void {
    if (id === undefined) {
      this.#listeners.get(sessionId)?.(method ?? "", params);
      return;
    }
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(result ?? {});
    else waiting?.reject(new Error(error.message));
  }

  /** Sends a command, to a page where its session is given, and waits for the answer. */
  send(
    method: string,
    params: Readonly<Record<string, unknown>> = {},
    sessionId?: string,
  ): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#questions;
    const waiting = Promise.withResolvers<Readonly<Record<string, unknown>>>();
    this.#waiting.set(id, waiting);
    this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    return waiting.promise;
  }

  /** Opens an empty page whose events go to `listener`. */
  async newPage(listener: Listener): Promise<Page> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const attached = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const sessionId = String(attached.sessionId);
    const loaded = Promise.withResolvers<void>();
    this.#listeners.set(sessionId, (method, params) => {
      if (method === "Page.loadEventFired") loaded.resolve();
      listener(method, params);
    });
    for (const domain of ["Page", "Runtime", "Network", "Log"]) {
      await this.send(`${domain}.enable`, {}, sessionId);
    }
    return new Page(this, { sessionId, targetId: String(targetId), loaded: loaded.promise });
  }

  /** Ends the browser. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.addEventListener("close", resolve));
    await this.send("Browser.close");
    await closed;
  }
}

/** One page. */
export class Page {
  readonly #browser: Browser;
  readonly #page: { sessionId: string; targetId: string; loaded: Promise<void> };

  /** `Browser.newPage` makes pages. */
  constructor(
    browser: Browser,
    page: { sessionId: string; targetId: string; loaded: Promise<void> },
  ) {
    this.#browser = browser;
    this.#page = page;
  }

  /** Sends a command to this page. */
  send(method: string, params: Readonly<Record<string, unknown>> = {}) {
    return this.#browser.send(method, params, this.#page.sessionId);
  }

  /** Goes to an address and waits until the page is loaded; once a page. */
  async goto(url: string): Promise<void> {
    const { errorText } = await this.send("Page.navigate", { url });
    if (errorText !== undefined) throw new Error(`Cannot open ${url}: ${errorText}`);
    await this.#page.loaded;
  }

  /** Runs a function in the page: its source and its arguments go there, its value comes back, both as JSON. */
  async evaluate<T, A extends readonly unknown[]>(run: (...args: A) => T, ...args: A): Promise<T> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression: `(${run})(...${JSON.stringify(args)})`,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value: T }).value;
  }

  /** Runs a function in the page on the elements that a selector finds. */
  evaluateAll<T>(selector: string, run: (all: readonly PageElement[]) => T): Promise<T> {
    const body = `const all = [...document.querySelectorAll(selector)]; return (${run})(all);`;
    return this.evaluate(new Function("selector", body) as (selector: string) => T, selector);
  }

  /** Runs a function in the page on the first element that a selector finds. */
  evaluateOne<T>(selector: string, run: (element: PageElement) => T): Promise<T> {
    const body = `return (${run})(document.querySelector(selector));`;
    return this.evaluate(new Function("selector", body) as (selector: string) => T, selector);
  }

  /** The title of the page. */
  title(): Promise<string> {
    return this.evaluate(() => document.title);
  }

  /** Gives an element the keyboard. */
  focus(selector: string): Promise<void> {
    return this.evaluateOne(selector, (element) => element.focus());
  }

  /** Presses a key and lets it go. */
  async press(key: keyof typeof KEYS): Promise<void> {
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", ...KEYS[key] });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...KEYS[key] });
  }

  /** Closes the page. */
  async close(): Promise<void> {
    await this.#browser.send("Target.closeTarget", { targetId: this.#page.targetId });
  }
}
