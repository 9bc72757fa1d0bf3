/** The forms of reading back: how results come to the host, and the memory that they pass through. */

/** How results come back: by an awaited map, or by a synchronous map of a primed buffer. */
export type ReadbackMode = "awaited" | "primed";

/** A buffer that the host can map. */
export interface Staging {
  /** Mappable memory. */
  readonly buffer: GPUBuffer;
  /** True after the first awaited map. */
  isPrimed: boolean;
}
