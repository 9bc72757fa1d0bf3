// clip_scale: norm = √Σ block_squares; scale = min(1, max_norm/(norm + 1e-6)); 0 when the norm is not finite
//   block_squares   [S]   in   of gradient_norm
//   clip_2          [2]   out  (norm, scale); scale 0 tells clip_adam to leave everything alone
// One invocation adds the blocks in ascending order: a dispatch those from first_block to end_block − 1 to the sum that
// the dispatch before it left in clip_2; the one that reaches block_count ends with norm and scale.
// Reference: src/reference/clip_adam.ts. Source: Pascanu, Mikolov and Bengio 2013, algorithm 1; PyTorch's 1e-6.
// Finiteness is tested by exponent bits: comparisons with NaN may be optimized away.
struct Params { first_block: u32, end_block: u32, block_count: u32, max_norm: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> block_squares: array<f32>;
@group(0) @binding(2) var<storage, read_write> clip_2: array<f32>;

const EXPONENT_BITS = 0x7f800000u;

@compute @workgroup_size(1)
fn clip_scale() {
  var sum = 0.0;
  if (params.first_block > 0u) { sum = clip_2[0]; }
  for (var i = params.first_block; i < params.end_block; i++) {
    sum += block_squares[i];
  }
  if (params.end_block < params.block_count) {
    clip_2[0] = sum;
    return;
  }
  let norm = sqrt(sum);
  let is_finite = (bitcast<u32>(norm) & EXPONENT_BITS) != EXPONENT_BITS;
  clip_2[0] = norm;
  clip_2[1] = select(0.0, min(1.0, params.max_norm / (norm + 1e-6)), is_finite);
}
