/** Typed views of GPU memory: tensors in storage buffers, operands in storage textures or buffers. */
import { UserError } from "../core/errors.ts";
import type { OperandMemory } from "./kernel.ts";

/** A range of a storage buffer. */
export interface Tensor {
  /** What error messages call it. */
  readonly label: string;
  /** The buffer that it is a range of. */
  readonly buffer: GPUBuffer;
  /** Where it starts, a multiple of 256. */
  readonly offsetBytes: number;
  /** Its size, a multiple of 256. */
  readonly sizeBytes: number;
}

/** A tensor that matrix products re-read, in the memory that is fastest on this adapter (see BindingSpec). */
export interface Operand {
  /** What error messages call it. */
  readonly label: string;
  /** Which of the two below is there. */
  readonly memory: OperandMemory;
  /** An rgba32float storage texture, or undefined. */
  readonly texture: GPUTexture | undefined;
  /** A storage buffer, or undefined. */
  readonly tensor: Tensor | undefined;
  /** Bytes of one texture row; 0 in buffer memory. */
  readonly textureRowBytes: number;
  /** Its size, a multiple of 256. */
  readonly sizeBytes: number;
}

/** Rows of an activation operand in one strip of a texture: the default limit of texture heights. */
export const TEXTURE_STRIP_ROWS = 8192;
/** Vec4 in one row of a flat operand's texture. */
export const FLAT_TEXTURE_WIDTH = 1024;

/** The least common alignment of storage and uniform buffer offsets in WebGPU's default limits. */
export const OFFSET_ALIGNMENT_BYTES = 256;

/** `size` rounded up to a multiple of `step`. */
export function roundUp(size: number, step: number): number {
  return Math.ceil(size / step) * step;
}

/**
 * Creates a storage buffer that kernels read and write, and the host copies.
 * @param options.sizeBytes Rounded up to 256.
 * @throws {UserError} When it exceeds what one binding may hold.
 */
export function createTensor(
  device: GPUDevice,
  options: { readonly label: string; readonly sizeBytes: number },
): Tensor {
  const { label } = options;
  const sizeBytes = roundUp(Math.max(options.sizeBytes, 4), OFFSET_ALIGNMENT_BYTES);
  const limit = device.limits.maxStorageBufferBindingSize;
  if (sizeBytes > limit) {
    throw new UserError(
      `Cannot allocate ${label}: it needs ${sizeBytes} bytes but one binding holds at most ${limit}; ` +
        "use smaller batches or a smaller model",
    );
  }
  const buffer = device.createBuffer({
    label,
    size: sizeBytes,
    usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST,
  });
  return { label, buffer, offsetBytes: 0, sizeBytes };
}

/**
 * A part of a tensor, to be bound on its own.
 * @throws {RangeError} When it reaches beyond the tensor or starts at an offset that cannot be bound.
 */
export function slice(tensor: Tensor, offsetBytes: number, sizeBytes: number): Tensor {
  if (offsetBytes % OFFSET_ALIGNMENT_BYTES !== 0 || offsetBytes + sizeBytes > tensor.sizeBytes) {
    throw new RangeError(
      `Cannot slice ${tensor.label}: bytes ${offsetBytes}..${
        offsetBytes + sizeBytes
      } of ${tensor.sizeBytes}; ` +
        `offsets must be multiples of ${OFFSET_ALIGNMENT_BYTES}`,
    );
  }
  return { ...tensor, offsetBytes: tensor.offsetBytes + offsetBytes, sizeBytes };
}

function createTextureOperand(
  device: GPUDevice,
  options: {
    readonly label: string;
    readonly width: number;
    readonly height: number;
    readonly format?: GPUTextureFormat;
  },
): Operand {
  const { label, width, height, format = "rgba32float" } = options;
  const limit = device.limits.maxTextureDimension2D;
  if (width > limit || height > limit) {
    throw new UserError(
      `Cannot allocate ${label}: a texture of ${width}×${height} exceeds the limit of ${limit}; ` +
        "use smaller batches or a smaller model",
    );
  }
  const texture = device.createTexture({
    label,
    size: [width, height],
    format,
    usage: GPUTextureUsage.STORAGE_BINDING | GPUTextureUsage.COPY_DST | GPUTextureUsage.COPY_SRC,
  });
  const textureRowBytes = width * 16;
  return {
    label,
    memory: "texture",
    texture,
    tensor: undefined,
    textureRowBytes,
    sizeBytes: textureRowBytes * height,
  };
}

function createBufferOperand(tensor: Tensor): Operand {
  return {
    label: tensor.label,
    memory: "buffer",
    texture: undefined,
    tensor,
    textureRowBytes: 0,
    sizeBytes: tensor.sizeBytes,
  };
}

/**
 * Creates an activation operand [rowCount, 4·width4] (addressed by `operand_row` in WGSL).
 * @throws {UserError} When it exceeds the device's limits.
 */
export function createRowOperand(
  device: GPUDevice,
  options: {
    readonly label: string;
    readonly rowCount: number;
    readonly width4: number;
    readonly memory: OperandMemory;
  },
): Operand {
  const { label, width4, memory } = options;
  const rowCount = Math.max(options.rowCount, 1);
  if (memory === "buffer") {
    return createBufferOperand(createTensor(device, { label, sizeBytes: rowCount * width4 * 16 }));
  }
  return createTextureOperand(device, {
    label,
    width: width4 * Math.ceil(rowCount / TEXTURE_STRIP_ROWS),
    height: Math.min(rowCount, TEXTURE_STRIP_ROWS),
  });
}

/**
 * Creates the operand copy of a flat tensor (addressed by `operand_flat` in WGSL). In buffer memory it is the tensor
 * itself; in texture memory `Commands.refreshOperand` copies.
 * @throws {UserError} When it exceeds the device's limits.
 */
export function createFlatOperand(
  device: GPUDevice,
  options: { readonly tensor: Tensor; readonly memory: OperandMemory },
): Operand {
  const { tensor, memory } = options;
  if (memory === "buffer") return createBufferOperand(tensor);
  return createTextureOperand(device, {
    label: `${tensor.label} operand`,
    width: FLAT_TEXTURE_WIDTH,
    height: Math.ceil(tensor.sizeBytes / (FLAT_TEXTURE_WIDTH * 16)),
  });
}

/** Bytes of a texel, which four words are. */
export const TEXEL_BYTES = 16;

/** Texels that one operand of words can hold on a device: whole rows of `FLAT_TEXTURE_WIDTH`. */
export function maxWordTexels(
  device: {
    readonly limits: Pick<GPUSupportedLimits, "maxStorageBufferBindingSize" | "maxBufferSize">;
  },
  memory: OperandMemory,
): number {
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  return memory === "texture"
    ? FLAT_TEXTURE_WIDTH * TEXTURE_STRIP_ROWS
    : FLAT_TEXTURE_WIDTH * Math.floor(
      Math.min(maxStorageBufferBindingSize, maxBufferSize) / (FLAT_TEXTURE_WIDTH * TEXEL_BYTES),
    );
}

/**
 * Creates an operand of words (addressed by `operand_flat` in WGSL), which the host fills by {@linkcode writeTexels}.
 * @throws {UserError} When it exceeds the device's limits.
 */
export function createWordOperand(
  device: GPUDevice,
  options: {
    readonly label: string;
    readonly texelCount: number;
    readonly memory: OperandMemory;
  },
): Operand {
  const { label, texelCount, memory } = options;
  if (memory === "buffer") {
    return createBufferOperand(
      createTensor(device, { label, sizeBytes: texelCount * TEXEL_BYTES }),
    );
  }
  return createTextureOperand(device, {
    label,
    width: FLAT_TEXTURE_WIDTH,
    height: Math.max(1, Math.ceil(texelCount / FLAT_TEXTURE_WIDTH)),
    format: "rgba32uint",
  });
}

/**
 * Writes whole texels to an operand of words, before everything that is not yet submitted.
 * @param options.texel The first one that is written.
 * @param options.bytes A multiple of 16 bytes.
 * @throws {RangeError} When they are not whole texels or reach beyond the operand.
 */
export function writeTexels(
  device: GPUDevice,
  operand: Operand,
  options: { readonly texel: number; readonly bytes: Uint8Array<ArrayBuffer> },
): void {
  const { texel, bytes } = options;
  const end = texel * TEXEL_BYTES + bytes.length;
  if (bytes.length % TEXEL_BYTES !== 0 || end > operand.sizeBytes) {
    throw new RangeError(
      `Cannot write ${bytes.length} bytes at texel ${texel} of ${operand.label}: it holds ` +
        `${operand.sizeBytes} bytes in texels of ${TEXEL_BYTES}`,
    );
  }
  const { texture, tensor } = operand;
  if (tensor) device.queue.writeBuffer(tensor.buffer, texel * TEXEL_BYTES, bytes);
  if (!texture) return;
  // The rest of a first row, whole rows, and the begin of a last one.
  for (let done = 0, at = texel; done < bytes.length;) {
    const column = at % FLAT_TEXTURE_WIDTH;
    const left = (bytes.length - done) / TEXEL_BYTES;
    const isWhole = column === 0 && left >= FLAT_TEXTURE_WIDTH;
    const height = isWhole ? Math.floor(left / FLAT_TEXTURE_WIDTH) : 1;
    const width = isWhole ? FLAT_TEXTURE_WIDTH : Math.min(left, FLAT_TEXTURE_WIDTH - column);
    device.queue.writeTexture(
      { texture, origin: [column, Math.floor(at / FLAT_TEXTURE_WIDTH)] },
      bytes.subarray(done, done + width * height * TEXEL_BYTES),
      { bytesPerRow: width * TEXEL_BYTES, rowsPerImage: height },
      [width, height],
    );
    at += width * height;
    done += width * height * TEXEL_BYTES;
  }
}

/** Frees the GPU memory of an operand or tensor. */
export function destroy(memory: Tensor | Operand): void {
  if ("buffer" in memory) memory.buffer.destroy();
  else {
    memory.texture?.destroy();
    memory.tensor?.buffer.destroy();
  }
}
