/** The specification of a transposed weight: where its entries go, in plain loops. */

/**
 * copy[k][o] = W[row(o)][k]. Queries and keys, the first 2·K outputs of a product with heads, come as interleaved pairs
 * (2p, 2p + 1) of a head, whose natural places are p and p + headWidth/2 (Su et al. 2021, as in GPT-NeoX).
 *
 * @param weight_MK W, row by row.
 * @param shape.outputCount M.
 * @param shape.width K.
 * @param shape.headWidth Entries of a head; 0: no output is moved.
 * @returns [K, M], row by row.
 */
export function transposeWeight(
  weight_MK: ArrayLike<number>,
  shape: { readonly outputCount: number; readonly width: number; readonly headWidth: number },
): Float64Array {
  const { outputCount, width, headWidth } = shape;
  const copy_KM = new Float64Array(outputCount * width);
  for (let o = 0; o < outputCount; o++) {
    const e = headWidth === 0 ? 0 : o % headWidth;
    const place = Math.floor(e / 2) + (e % 2) * headWidth / 2;
    const row = headWidth > 0 && o < 2 * width ? o - e + place : o;
    for (let k = 0; k < width; k++) {
      copy_KM[k * outputCount + o] = weight_MK[row * width + k] ?? NaN;
    }
  }
  return copy_KM;
}
