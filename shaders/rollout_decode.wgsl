// rollout_decode: whole transformer, sampler and environment for SLOTS slots, token by token, in one workgroup
//   w            [W]                  in      all parameters
//   angles_TK    [T, K]               in      (cos, sin) of each pair at each position
//   cache        [S, L, T, 2, D]      in out  keys (rotated, interleaved) and values of each slot
//   slots        [S]                  in out  see slots.wgsl, as are gym, episodes, queue and records
// A block of slots × columns per invocation; the sums run as in the training kernels, whose functions are shared,
// so that sampled log-probs have the trainer's bits. Reference: src/reference/tiny_agent.ts and sample.ts.
// Source: Vaswani et al. 2017; continuous batching: Yu et al. 2022 (Orca).
struct Params {
  token_count: u32, episode_count: u32, max_positions: u32, scale: f32, inverse_temperature: f32,
  key0: u32, key1: u32, resident: u32, max_turns: u32, call_end: u32, max_call_tokens: u32, row_words: u32,
  prompt_row: u32, call_row: u32, call_count: u32, transition_offset: u32, start_offset: u32,
  head_offset4: u32, norm_offset4: u32, block_offset4: u32, inverse_width: f32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var w: texture_storage_2d<rgba32float, read>;
@group(0) @binding(2) var<storage, read> angles_TK: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> cache: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(5) var<storage, read> gym: array<u32>;
@group(0) @binding(6) var<storage, read> episodes: array<vec2u>;
@group(0) @binding(7) var<storage, read_write> queue: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> records: array<vec2u>;

override LANES: u32 = 8;
override WIDTH4: u32 = 16;
override FEED4: u32 = 64;
override HEADS: u32 = 4;
override LAYERS: u32 = 3;
override VOCAB: u32 = 60;
// vec4 of one slot in the scratch region: the widest of queries-keys-values, feed-forward and logits.
override SCRATCH4: u32 = 64;
override MEMORY4: u32 = 768;
const SLOTS = 8u;
// 1: w holds each matrix [M, K] as [K, M], queries and keys interleaved (transpose_weights.wgsl).
const TRANSPOSED = 0u;

// Regions, each slot-major: hidden states x, normalized rows (or attention output), scratch.
var<workgroup> memory: array<vec4f, MEMORY4>;
var<workgroup> here: array<Slot, SLOTS>;
// Slots with the running ones first, and how many those are: finished episodes cost nothing.
var<workgroup> order: array<u32, SLOTS>;
var<workgroup> live_count: u32;
var<private> lane: u32;
var<private> first_slot: u32;
var<private> live: u32;
var<private> unit_place: u32;
var<private> unit_column: u32;
var<private> logits_at: u32;
var<private> input_at: u32;
var<private> query_at: u32;
var<private> output_at: u32;
var<private> cache_at: u32;

fn x_at(r: u32) -> u32 { return r * WIDTH4; }
fn normed_at(r: u32) -> u32 { return (SLOTS + r) * WIDTH4; }
fn scratch_at(r: u32) -> u32 { return 2u * SLOTS * WIDTH4 + r * SCRATCH4; }

fn load_x(at: vec2u) -> vec4f { return memory[at.x]; }
fn load_dy(at: vec2u) -> vec4f { return memory[at.x]; }
fn load_w(at: vec2u) -> vec4f { return textureLoad(w, at); }
fn load_parameter(i: u32) -> vec4f { return textureLoad(w, operand_flat(i)); }
fn layernorm_input(c: u32) -> vec4f { return memory[input_at + c]; }
fn load_logit(v: u32) -> f32 { return memory[logits_at + v / 4u][v % 4u]; }
fn load_key(j: u32, c: u32) -> vec4f { return cache[cache_at + 2u * j * WIDTH4 + c]; }
fn load_value(j: u32, c: u32) -> vec4f { return cache[cache_at + (2u * j + 1u) * WIDTH4 + c]; }
fn store_vec4(r: u32, c: u32, sum: vec4f) {}

// Where the parts of a block lie behind its start, in vec4 (src/model/config.ts).
fn qkv_offset4() -> u32 { return 4u * WIDTH4; }
fn proj_offset4() -> u32 { return qkv_offset4() + 12u * WIDTH4 * WIDTH4; }
fn fc_offset4() -> u32 { return proj_offset4() + 4u * WIDTH4 * WIDTH4 + WIDTH4; }
fn out_offset4() -> u32 { return fc_offset4() + 4u * FEED4 * WIDTH4 + FEED4; }
fn block_length4() -> u32 { return out_offset4() + 4u * WIDTH4 * FEED4 + WIDTH4; }

fn cache_start(r: u32, layer: u32) -> u32 {
  return ((first_slot + r) * LAYERS + layer) * params.max_positions * 2u * WIDTH4;
}

fn embed() {
  for (var i = lane; i < SLOTS * WIDTH4; i += LANES) {
    memory[i] = load_parameter(here[i / WIDTH4].token * WIDTH4 + i % WIDTH4);
  }
}

// Ends of loops that the compiler must not know: Mesa would write such loops out at every call, and look over the whole
// kernel again for each, so that its pipeline would take five times as long.
fn norm_width4() -> u32 { return min(WIDTH4, params.max_positions + WIDTH4); }
fn slots_here() -> u32 { return min(SLOTS, params.max_positions + SLOTS); }

fn normalize(gain_offset4: u32) {
  let width4 = norm_width4();
  for (var r = lane; r < SLOTS; r += LANES) {
    input_at = x_at(r);
    let moments = layernorm_moments(width4);
    for (var c = 0u; c < width4; c++) {
      memory[normed_at(r) + c] = layernorm_output(
        layernorm_input(c), moments, load_parameter(gain_offset4 + c), load_parameter(gain_offset4 + WIDTH4 + c));
    }
  }
}

// HEAD_WIDTH4, but unknown to the compiler, as in training: loops over short heads that it writes out have other bits.
fn head_width4() -> u32 { return min(HEAD_WIDTH4, params.max_positions + HEAD_WIDTH4); }
fn load_query(c: u32) -> vec4f { return memory[query_at + c]; }
fn store_output(c: u32, value: vec4f) { memory[output_at + c] = value; }

fn attend_all(layer: u32) {
  for (var unit = lane; unit < live * HEADS; unit += LANES) {
    let r = order[unit / HEADS];
    let head_column4 = (unit % HEADS) * HEAD_WIDTH4;
    query_at = scratch_at(r) + head_column4;
    output_at = normed_at(r) + head_column4;
    cache_at = cache_start(r, layer) + head_column4;
    begin_attention();
    for (var j = 0u; j <= here[r].position; j++) {
      attend(j, params.scale);
    }
    finish_attention();
  }
}

// Blocks of BLOCK_ROWS slots that hold all live ones.
fn slot_blocks() -> u32 {
  return (live + BLOCK_ROWS - 1u) / BLOCK_ROWS;
}

// One block of a product: BLOCK_ROWS slots × BLOCK_COLUMNS columns of rows · Wᵀ.
// is_rotated interleaves the pairs of queries and keys, whose columns come before 8·WIDTH4 (see rotary.wgsl).
fn multiply_block(unit: u32, columns: u32, offset4: u32, width4: u32, rows: vec2u, is_rotated: bool) {
  unit_place = BLOCK_ROWS * (unit % slot_blocks());
  unit_column = BLOCK_COLUMNS * (unit / slot_blocks());
  let k = 4u * HEAD_WIDTH4;
  for (var i = 0u; i < BLOCK_ROWS; i++) { // unrolled
    row_at[i] = vec2u(rows.x + order[unit_place + i] * rows.y, 0u);
  }
  clear_block();
  if (TRANSPOSED == 1u) {
    accumulate_outputs(4u * width4, unit_column / 4u, offset4, columns / 4u);
    return;
  }
  for (var i = 0u; i < BLOCK_COLUMNS; i++) { // unrolled
    let c = min(unit_column + i, columns - 1u);
    let row = select(c, (c / k) * k + natural_index(c % k, k), is_rotated && c < 8u * WIDTH4);
    column_at[i] = offset4 + row * width4;
  }
  accumulate_rows(width4);
}

fn unit_count(columns: u32) -> u32 {
  return slot_blocks() * ((columns + BLOCK_COLUMNS - 1u) / BLOCK_COLUMNS);
}

// Where rows of a region start, and how far apart they are.
fn normed_rows() -> vec2u { return vec2u(normed_at(0u), WIDTH4); }
fn scratch_rows() -> vec2u { return vec2u(scratch_at(0u), SCRATCH4); }

// Each kind of product has code of its own: software adapters execute every branch of a condition.
fn multiply_qkv(layer: u32, offset4: u32) {
  for (var unit = lane; unit < unit_count(12u * WIDTH4); unit += LANES) {
    multiply_block(unit, 12u * WIDTH4, offset4, WIDTH4, normed_rows(), true);
    for (var i = 0u; i < BLOCK_ROWS; i++) { // unrolled
      let r = order[unit_place + i];
      let angles_at = here[r].position * HEAD_WIDTH4;
      let keys_at = cache_start(r, layer) + 2u * here[r].position * WIDTH4 - WIDTH4;
      let is_running = unit_place + i < live;
      for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
        let column4 = unit_column / 4u + c;
        let rotated = rotate_pairs(block[BLOCK_COLUMNS4 * i + c], angles_TK[angles_at + column4 % HEAD_WIDTH4]);
        let value = select(block[BLOCK_COLUMNS4 * i + c], rotated, column4 < 2u * WIDTH4);
        memory[scratch_at(r) + column4] = value;
        if (column4 >= WIDTH4 && is_running) { cache[keys_at + column4] = value; }
      }
    }
  }
}

fn multiply_residual(offset4: u32, width4: u32, rows: vec2u) {
  for (var unit = lane; unit < unit_count(4u * WIDTH4); unit += LANES) {
    multiply_block(unit, 4u * WIDTH4, offset4, width4, rows, false);
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      let column4 = unit_column / 4u + c;
      let bias = load_parameter(offset4 + 4u * WIDTH4 * width4 + column4);
      for (var i = 0u; i < BLOCK_ROWS; i++) { // unrolled
        memory[x_at(order[unit_place + i]) + column4] += block[BLOCK_COLUMNS4 * i + c] + bias;
      }
    }
  }
}

fn multiply_gelu(offset4: u32) {
  for (var unit = lane; unit < unit_count(4u * FEED4); unit += LANES) {
    multiply_block(unit, 4u * FEED4, offset4, WIDTH4, normed_rows(), false);
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      let column4 = unit_column / 4u + c;
      let bias = load_parameter(offset4 + 4u * FEED4 * WIDTH4 + column4);
      for (var i = 0u; i < BLOCK_ROWS; i++) { // unrolled
        memory[scratch_at(order[unit_place + i]) + column4] = gelu(block[BLOCK_COLUMNS4 * i + c] + bias);
      }
    }
  }
}

fn multiply_logits(offset4: u32) {
  for (var unit = lane; unit < unit_count(VOCAB); unit += LANES) {
    multiply_block(unit, VOCAB, offset4, WIDTH4, normed_rows(), false);
    for (var c = 0u; c < BLOCK_COLUMNS4; c++) { // unrolled
      let column4 = unit_column / 4u + c;
      if (4u * column4 < VOCAB) {
        let bias = load_parameter(offset4 + VOCAB * WIDTH4 + column4);
        for (var i = 0u; i < BLOCK_ROWS; i++) { // unrolled
          memory[scratch_at(order[unit_place + i]) + column4] = block[BLOCK_COLUMNS4 * i + c] + bias;
        }
      }
    }
  }
}

// The fused decoder's vocabularies are shorter than a segment: what is longer does not fit its memory.
fn sample_token(u: f32) -> Sample {
  let softmax = segment_softmax(0u, VOCAB);
  let token = draw_token(softmax.maximum, u * softmax.sum, 0u, VOCAB);
  return Sample(token, logit_above(token, log_sum_exp(softmax)));
}

fn advance_all() {
  for (var r = lane; r < SLOTS; r += LANES) {
    var slot = here[r];
    if (slot.status == SLOT_RUNNING) {
      var sample = Sample(0u, 0.0);
      if (!has_forced_token(slot)) {
        logits_at = scratch_at(r);
        let word = threefry(vec2u(params.key0, params.key1), vec2u(episodes[slot.episode].y, slot.position + 1u)).x;
        sample = sample_token(uniform_of(word));
      }
      here[r] = advance_slot(slot, sample.token, sample.logp);
    }
  }
}

// Running slots first, of those the longest, so that neighbours attend over as many keys.
fn order_slots() {
  for (var r = lane; r < SLOTS; r += LANES) {
    let key = order_key(r);
    var place = 0u;
    for (var other = 0u; other < slots_here(); other++) {
      let other_key = order_key(other);
      place += u32(other_key > key || (other_key == key && other < r));
    }
    order[place] = r;
  }
  if (lane == 0u) {
    var running = 0u;
    for (var r = 0u; r < slots_here(); r++) {
      running += u32(here[r].status == SLOT_RUNNING);
    }
    live_count = running;
  }
}

fn order_key(r: u32) -> u32 {
  return select(0u, here[r].position + 1u, here[r].status == SLOT_RUNNING);
}

@compute @workgroup_size(LANES)
fn rollout_decode(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) index: u32) {
  lane = index;
  first_slot = group.x * SLOTS;
  for (var r = lane; r < SLOTS; r += LANES) {
    here[r] = slots[first_slot + r];
    if (here[r].status == SLOT_EMPTY) { here[r] = start_episode(here[r]); }
  }
  workgroupBarrier();
  for (var i = 0u; i < params.token_count; i++) {
    order_slots();
    // Tint takes a private variable for one that differs between lanes and refuses the barriers after a break on it.
    let running = workgroupUniformLoad(&live_count);
    if (running == 0u) { break; }
    live = running;
    embed();
    workgroupBarrier();
    for (var layer = 0u; layer < LAYERS; layer++) {
      let block_start = params.block_offset4 + layer * block_length4();
      normalize(block_start);
      workgroupBarrier();
      multiply_qkv(layer, block_start + qkv_offset4());
      storageBarrier();
      workgroupBarrier();
      attend_all(layer);
      workgroupBarrier();
      multiply_residual(block_start + proj_offset4(), WIDTH4, normed_rows());
      workgroupBarrier();
      normalize(block_start + 2u * WIDTH4);
      workgroupBarrier();
      multiply_gelu(block_start + fc_offset4());
      workgroupBarrier();
      multiply_residual(block_start + out_offset4(), FEED4, scratch_rows());
      workgroupBarrier();
    }
    normalize(params.norm_offset4);
    workgroupBarrier();
    multiply_logits(params.head_offset4);
    workgroupBarrier();
    advance_all();
    workgroupBarrier();
  }
  for (var r = lane; r < SLOTS; r += LANES) {
    slots[first_slot + r] = here[r];
  }
}
