/** Protocol buffers on the wire: walks the fields of a message in place. */

/** The bytes are not a message. */
export class WireError extends Error {
  /** The class. */
  override readonly name = "WireError";
}

/** How a field's value is written. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

/** A varint holds 64 bits in groups of 7. */
const MAX_VARINT_BYTES = 10;
/** As many groups fit into the 53 exact bits of a number. */
const EXACT_VARINT_BYTES = 7;

/**
 * Walks one message: `next` goes to a field, then one of the others takes its value, or `skip` passes it.
 *
 * @example
 * ```ts ignore
 * for (const wire = new WireReader(bytes); wire.next();) {
 *   if (wire.is(1, WIRE.varint)) step = wire.int64();
 *   else wire.skip();
 * }
 * ```
 */
export class WireReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #end: number;
  #position: number;
  #field = 0;
  #type = 0;

  /** Walks the bytes from `start` to `end`, all by default. */
  constructor(bytes: Uint8Array, { start = 0, end = bytes.length } = {}) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#position = start;
    this.#end = end;
  }

  /** Goes to the next field. @returns False at the end. @throws {WireError} When the tag of a field is not one. */
  next(): boolean {
    if (this.#position >= this.#end) return false;
    const tag = this.int64();
    this.#field = Math.floor(tag / 8);
    this.#type = tag % 8;
    if (!(this.#field >= 1)) throw new WireError("a field has no tag");
    return true;
  }

  /** True where the field has this number and its value is written in this way. */
  is(field: number, type: number): boolean {
    return this.#field === field && this.#type === type;
  }

  /** The number of the field. */
  get field(): number {
    return this.#field;
  }

  /**
   * A varint as a signed number of 64 bits.
   *
   * @returns The number; beyond ±2^53 rounded.
   * @throws {WireError} When it does not end.
   */
  int64(): number {
    const start = this.#position;
    let value = 0;
    for (let i = 0; i < MAX_VARINT_BYTES; i++) {
      if (this.#position >= this.#end) throw new WireError("a number is cut off");
      const byte = this.#bytes[this.#position++];
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return i < EXACT_VARINT_BYTES ? value : this.#long(start);
    }
    throw new WireError("a number does not end");
  }

  /** The varint from `start` to here, exactly, where it may have its sign bit set. */
  #long(start: number): number {
    let value = 0n;
    for (let i = this.#position - 1; i >= start; i--) {
      value = (value << 7n) | BigInt(this.#bytes[i] & 0x7f);
    }
    return Number(BigInt.asIntN(64, value));
  }

  /** A double. */
  float64(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  /** A float. */
  float32(): number {
    return this.#view.getFloat32(this.#take(4), true);
  }

  /** The bytes of a text or of a message. */
  bytes(): Uint8Array {
    const length = this.int64();
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  /** A message within this one. */
  message(): WireReader {
    const length = this.int64();
    const start = this.#take(length);
    return new WireReader(this.#bytes, { start, end: start + length });
  }

  /** Passes the field's value. */
  skip(): void {
    if (this.#type === WIRE.varint) this.int64();
    else if (this.#type === WIRE.fixed64) this.#take(8);
    else if (this.#type === WIRE.bytes) this.#take(this.int64());
    else if (this.#type === WIRE.fixed32) this.#take(4);
    else throw new WireError(`a field is of the unknown kind ${this.#type}`);
  }

  #take(length: number): number {
    const start = this.#position;
    if (!(length >= 0 && length <= this.#end - start)) {
      throw new WireError(`a field of ${length} bytes does not fit into its message`);
    }
    this.#position = start + length;
    return start;
  }
}
