// gated_silu_forward: y = silu(gate) ⊙ up, silu(z) = z / (1 + exp(−z))
//   gate_up_N2F  [N, 2F]   in   gates, then what they let through
//   y_NF         [N, F]    out  read by a product
// One invocation computes one vec4. No sums.
// Reference: src/reference/gated_silu.ts. Source: Shazeer 2020, equation 5 (SwiGLU).
struct Params { row_count: u32, width4: u32 }
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> gate_up_N2F: array<vec4f>;
@group(0) @binding(2) var y_NF: texture_storage_2d<rgba32float, write>;

override LANES: u32 = 32;
// Where exp(−z) would overflow, silu(z) is 0 to within 1e-32 anyway.
const LARGEST = 80.0;

@compute @workgroup_size(LANES)
fn gated_silu_forward(@builtin(global_invocation_id) id: vec3u) {
  let i = grid_place(id, LANES);
  let n = i / params.width4;
  let c = i % params.width4;
  if (n >= params.row_count) { return; }
  let row = 2u * n * params.width4;
  let gate = gate_up_N2F[row + c];
  let up = gate_up_N2F[row + params.width4 + c];
  let silu = gate / (vec4f(1.0) + exp(min(-gate, vec4f(LARGEST))));
  textureStore(y_NF, operand_row(n, params.width4) + vec2u(c, 0u), silu * up);
}
