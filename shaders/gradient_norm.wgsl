// gradient_norm: block_squares[b] = Σ of squares of the 4,096 gradient entries of block b
//   gradient        [W]   in   flat gradient, padded with zeros to a multiple of 4
//   block_squares   [S]   out  one sum a block, added up by clip_adam
// One invocation owns one block; entries ascend in four partial sums, added (x + y) + (z + w).
// Reference: src/reference/clip_adam.ts. Source: Pascanu, Mikolov and Bengio 2013, algorithm 1.
// The blocks are fixed, so the bits depend on nothing but the gradient.
struct Params { vec4_count: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gradient: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> block_squares: array<f32>;

override LANES: u32 = 8;
const BLOCK4 = 1024u;

@compute @workgroup_size(LANES)
fn gradient_norm(@builtin(global_invocation_id) id: vec3u) {
  let first = id.x * BLOCK4;
  if (first >= params.vec4_count) { return; }
  var sum = vec4f(0.0);
  let end = min(first + BLOCK4, params.vec4_count);
  for (var i = first; i < end; i++) {
    sum = fma(gradient[i], gradient[i], sum);
  }
  block_squares[id.x] = (sum.x + sum.y) + (sum.z + sum.w);
}
