/** Reading a row operand back, whichever memory it lies in. */
import type { Commands } from "../gpu/commands.ts";
import { createTensor, destroy, type Operand, roundUp, TEXTURE_STRIP_ROWS } from "../gpu/tensor.ts";

/** Rows of a copied texture start at multiples of this (WebGPU). */
const COPY_ROW_BYTES = 256;

/**
 * The first rows of an operand, after the work recorded before.
 * @param options.width Floats of a row, as the operand was created.
 * @returns rows_NK, [rowCount, width].
 * @throws {DeviceLostError} When the device is gone.
 */
export async function readRowOperand(
  commands: Commands,
  operand: Operand,
  options: { readonly rowCount: number; readonly width: number },
): Promise<Float32Array> {
  const { rowCount, width } = options;
  if (operand.tensor) {
    const [bytes] = await commands.read([{
      tensor: operand.tensor,
      sizeBytes: rowCount * width * 4,
    }]);
    return new Float32Array(bytes);
  }
  if (!operand.texture) throw new TypeError(`Cannot read ${operand.label}: it has no memory`);
  const { device } = commands.gpu;
  const bytesPerRow = roundUp(width * 4, COPY_ROW_BYTES);
  const copy = createTensor(device, {
    label: `copy of ${operand.label}`,
    sizeBytes: bytesPerRow * rowCount,
  });
  commands.submit();
  const encoder = device.createCommandEncoder();
  for (let first = 0; first < rowCount; first += TEXTURE_STRIP_ROWS) {
    const height = Math.min(TEXTURE_STRIP_ROWS, rowCount - first);
    encoder.copyTextureToBuffer(
      { texture: operand.texture, origin: [first / TEXTURE_STRIP_ROWS * (width / 4), 0] },
      { buffer: copy.buffer, offset: first * bytesPerRow, bytesPerRow },
      [width / 4, height],
    );
  }
  device.queue.submit([encoder.finish()]);
  const [bytes] = await commands.read([{ tensor: copy, sizeBytes: bytesPerRow * rowCount }]);
  destroy(copy);
  const padded = new Float32Array(bytes);
  const rows_NK = new Float32Array(rowCount * width);
  for (let row = 0; row < rowCount; row++) {
    const start = row * bytesPerRow / 4;
    rows_NK.set(padded.subarray(start, start + width), row * width);
  }
  return rows_NK;
}
