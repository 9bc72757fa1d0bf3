// clip_scale: norm = √Σ block_squares; scale = min(1, max_norm/(norm + 1e-6)); 0 when the norm is not finite
//   block_squares   [S]   in   of gradient_norm
//   clip_2          [2]   out  (norm, scale); scale 0 tells clip_adam to leave everything alone
// One invocation adds the blocks in ascending order.
// Reference: src/reference/clip_adam.ts. Source: Pascanu, Mikolov and Bengio 2013, algorithm 1; PyTorch's 1e-6.
// Finiteness is tested by exponent bits: comparisons with NaN may be optimized away.
struct Params { block_count: u32, max_norm: f32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> block_squares: array<f32>;
@group(0) @binding(2) var<storage, read_write> clip_2: array<f32>;

const EXPONENT_BITS = 0x7f800000u;

@compute @workgroup_size(1)
fn clip_scale() {
  var sum = 0.0;
  for (var i = 0u; i < params.block_count; i++) {
    sum += block_squares[i];
  }
  let norm = sqrt(sum);
  let is_finite = (bitcast<u32>(norm) & EXPONENT_BITS) != EXPONENT_BITS;
  clip_2[0] = norm;
  clip_2[1] = select(0.0, min(1.0, params.max_norm / (norm + 1e-6)), is_finite);
}
