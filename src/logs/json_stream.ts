/** Takes the rows out of one large JSON document while it streams by, so that it never is in memory as a whole. */
import { UserError } from "../core/errors.ts";

/** What a document is made of, as far as a log needs it. */
export interface JsonParts {
  /** An object that is an item of the list: of the document itself, or of its wanted key. @param line Where it begins, from 1. */
  item(text: string, line: number): void;
  /** A number, text, true, false or null under a key of the document. */
  scalar(key: string, text: string): void;
}

/** The longest item or scalar that is kept, in UTF-16 units. */
const MAX_ITEM_LENGTH = 16 * 2 ** 20;
/** Keys and values of settings are short; a longer one is skipped. */
const MAX_SCALAR_LENGTH = 4096;

/** Walks a JSON document piece by piece. It checks no grammar: items are checked when they are parsed. */
export class JsonStream {
  readonly #parts: JsonParts;
  readonly #listKey: string;
  readonly #name: string;
  #depth = 0;
  #line = 1;
  #inString = false;
  #isEscaped = false;
  /** Depth within the list of rows; 0 outside of it. */
  #listDepth = 0;
  #key = "";
  /** What is being kept: nothing, the key or the value of the document's own, or an item. */
  #kept: "nothing" | "key" | "scalar" | "item" = "nothing";
  #text = "";
  #itemLine = 1;

  /** Takes the key of the document under which its list of rows is, and what to do with the parts. */
  constructor(
    parts: JsonParts,
    { listKey, name }: { readonly listKey: string; readonly name: string },
  ) {
    this.#parts = parts;
    this.#listKey = listKey;
    this.#name = name;
  }

  /** True while the document has begun and is not closed. */
  get isOpen(): boolean {
    return this.#depth > 0;
  }

  /** The next piece. @throws {UserError} When one item is longer than 16 MiB. */
  take(piece: string): void {
    let start = 0;
    /** Keeps what was seen of this piece, up to `end`. */
    const keep = (end: number) => {
      if (this.#kept !== "nothing") this.#text += piece.slice(start, end);
      start = end;
    };
    for (let i = 0; i < piece.length; i++) {
      const c = piece.charCodeAt(i);
      if (c === 10) this.#line++;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (c === 92) this.#isEscaped = true;
        else if (c === 34) this.#inString = false;
        continue;
      }
      // Only quotes, brackets, commas and colons matter.
      if (c === 34) this.#inString = true;
      else if (c === 123 || c === 91) {
        keep(i);
        this.#open(c === 91);
        if (this.#kept === "key") start = i + 1;
      } else if (c === 125 || c === 93) {
        const isItemEnd = this.#kept === "item" && this.#depth === this.#listDepth + 1;
        keep(isItemEnd ? i + 1 : i);
        this.#close();
      } else if (this.#depth === 1 && this.#listDepth === 0 && (c === 58 || c === 44)) {
        keep(i);
        start = i + 1;
        if (c === 58) this.#endKey();
        else this.#endScalar();
      }
    }
    keep(piece.length);
    if (this.#kept === "item" && this.#text.length > MAX_ITEM_LENGTH) {
      throw new UserError(
        `Cannot read ${this.#name}: the row at line ${this.#itemLine} is longer than 16 MiB, which no row of a log is; give the log itself`,
      );
    }
    if (this.#kept === "scalar" && this.#text.length > MAX_SCALAR_LENGTH) this.#keep("nothing");
  }

  #keep(kept: "nothing" | "key" | "scalar" | "item"): void {
    this.#kept = kept;
    this.#text = "";
  }

  #open(isList: boolean): void {
    const { depth, inList } = { depth: ++this.#depth, inList: this.#listDepth > 0 };
    if (inList) {
      if (depth === this.#listDepth + 1 && !isList) {
        this.#keep("item");
        this.#itemLine = this.#line;
      }
    } else if (depth === 1) {
      if (isList) this.#listDepth = 1;
      else this.#keep("key");
    } else if (depth === 2) {
      if (isList && this.#key === this.#listKey) this.#listDepth = 2;
      this.#keep("nothing"); // The value is a container.
    }
  }

  #close(): void {
    const depth = this.#depth;
    this.#depth = Math.max(0, depth - 1);
    if (this.#listDepth > 0) {
      if (depth === this.#listDepth + 1 && this.#kept === "item") {
        this.#parts.item(this.#text, this.#itemLine);
        this.#keep("nothing");
      } else if (depth === this.#listDepth) {
        this.#listDepth = 0;
      }
    } else if (depth === 1) {
      this.#endScalar();
    }
  }

  #endKey(): void {
    if (this.#kept !== "key") return;
    this.#key = this.#text.trim().slice(1, -1);
    this.#keep("scalar");
  }

  #endScalar(): void {
    if (this.#kept === "scalar") this.#parts.scalar(this.#key, this.#text.trim());
    this.#keep("key");
  }
}
