// linear_backward_weight: dW = dyᵀ x and db = Σ_n dy, over one of 8 chunks of rows
//   dy_NM      [N, M]    in   gradient of y = x Wᵀ + b
//   x_NK       [N, K]    in   the forward's rows; K a multiple of 8
//   chunk_start [9]      in   where each chunk of rows starts, and the end
//   partials   [8, W']   out  per chunk: dW [M, K] at vec4 weight_offset4, db [M] right behind it when has_bias is 1
// One invocation owns a block of outputs × columns of one chunk; rows ascend. Chunks are fixed: they decide the bits.
// Reference: src/reference/linear.ts. Source: the chain rule on linear_forward.
struct Params {
  width4: u32, column_count: u32, weight_offset4: u32, dy_width4: u32, chunk_stride4: u32, has_bias: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var dy_NM: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var x_NK: texture_storage_2d<rgba32float, read>;
@group(0) @binding(3) var<storage, read> chunk_start: array<u32>;
@group(0) @binding(4) var<storage, read_write> partials: array<vec4f>;

override LANES: u32 = 8;
const SPREAD_LANES = 0u;
var<private> column4: u32;
var<private> chunk_offset4: u32;

fn load_dy(at: vec2u) -> vec4f { return textureLoad(dy_NM, at); }
fn load_x(at: vec2u) -> vec4f { return textureLoad(x_NK, at); }

fn store_weight(o: u32, c: u32, sum: vec4f) {
  partials[chunk_offset4 + params.weight_offset4 + o * params.width4 + column4 + c] = sum;
}

fn store_bias(output4: u32, sum: vec4f) {
  if (4u * output4 < params.column_count) {
    partials[chunk_offset4 + params.weight_offset4 + params.column_count * params.width4 + output4] = sum;
  }
}

// Block of inner columns and block of outputs. Where a workgroup has more lanes than there are blocks of columns, they
// go on in the next outputs; elsewhere all lanes have the same outputs, whose addresses a CPU then computes once.
fn block_place(id: vec3u) -> vec2u {
  if (SPREAD_LANES == 0u) { return id.xy; }
  let unit = grid_place(id, LANES);
  let blocks = params.width4 / WEIGHT_COLUMNS4;
  return vec2u(unit % blocks, unit / blocks);
}

@compute @workgroup_size(LANES)
fn linear_backward_weight(@builtin(global_invocation_id) id: vec3u) {
  let place = block_place(id);
  column4 = WEIGHT_COLUMNS4 * place.x;
  let output0 = WEIGHT_OUTPUTS * place.y;
  if (column4 >= params.width4 || output0 >= params.column_count) { return; }
  chunk_offset4 = id.z * params.chunk_stride4;
  accumulate_weights(chunk_start[id.z], chunk_start[id.z + 1u], params.dy_width4, output0 / 4u, params.width4, column4);
  store_weights(output0, params.column_count, column4 == 0u && params.has_bias == 1u);
}
