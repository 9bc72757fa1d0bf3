/** Bytes that arrive in pieces of any size and leave in records of any size. */

/** A queue of bytes in one buffer; nothing is copied twice but what lies in it when it must grow. */
export class ByteQueue {
  #buffer = new Uint8Array(1 << 17);
  #start = 0;
  #end = 0;
  #taken = 0;

  /** Bytes that wait. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** Bytes taken so far: where in the stream the first waiting byte stands. */
  get offset(): number {
    return this.#taken;
  }

  /** Adds a piece. */
  push(piece: Uint8Array): void {
    if (this.#end + piece.length > this.#buffer.length) this.#makeRoom(piece.length);
    this.#buffer.set(piece, this.#end);
    this.#end += piece.length;
  }

  #makeRoom(count: number): void {
    const waiting = this.#buffer.subarray(this.#start, this.#end);
    const needed = waiting.length + count;
    // Twice what is needed, so that a record in many pieces is not copied once for each of them.
    const target = needed * 2 <= this.#buffer.length ? this.#buffer : new Uint8Array(needed * 2);
    target.set(waiting);
    this.#buffer = target;
    this.#end = waiting.length;
    this.#start = 0;
  }

  /** The first `count` waiting bytes, valid until the next push. */
  peek(count: number): Uint8Array {
    return this.#buffer.subarray(this.#start, Math.min(this.#start + count, this.#end));
  }

  /** Takes the first `count` waiting bytes off. */
  drop(count: number): void {
    this.#start += count;
    this.#taken += count;
  }
}
