// rollout_advance: samples one token per slot from its logits and advances the slot (the layered decoder's last step)
//   logits_SV   [S, V]      in      before the temperature
//   segments    [C, S, 4]   in      of rollout_softmax
//   slots       [S]         in out  see slots.wgsl, as are gym, episodes, queue and records
//   token_S4    [S, 4]      out     (id, position, 0, 0) of the token that each slot consumes next
// One invocation owns one slot. It merges the segments, ascending, finds the run of 16 segments that the uniform falls
// into, and scans the entries of that run, ascending. The length of a run decides the token where sums round.
// Reference: src/reference/sample.ts. Source: inverse of the cumulative distribution (Devroye 1986, chapter III.2).
// start 1 only starts empty slots, before the first token.
struct Params {
  slot_count: u32, vocab_size: u32, start: u32, episode_count: u32, max_positions: u32, inverse_temperature: f32,
  key0: u32, key1: u32, resident: u32, max_turns: u32, call_end: u32, max_call_tokens: u32, row_words: u32,
  prompt_row: u32, call_row: u32, call_count: u32, transition_offset: u32, start_offset: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> logits_SV: array<f32>;
@group(0) @binding(2) var<storage, read> segments: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> slots: array<Slot>;
@group(0) @binding(4) var<storage, read_write> token_S4: array<vec4u>;
@group(0) @binding(5) var<storage, read> gym: array<u32>;
@group(0) @binding(6) var<storage, read> episodes: array<vec2u>;
@group(0) @binding(7) var<storage, read_write> queue: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> records: array<vec2u>;

override LANES: u32 = 8;
var<private> logits_at: u32;

fn load_logit(v: u32) -> f32 { return logits_SV[logits_at + v]; }

// Segments of one run.
const RUN_SEGMENTS = 16u;

fn load_segment(s: u32, segment: u32) -> OnlineSoftmax {
  let held = segments[segment * params.slot_count + s];
  return OnlineSoftmax(held.x, held.y, held.z);
}

// Σ exp(z − maximum) over a run; a segment whose tokens are never drawn weighs nothing.
fn run_weight(s: u32, first: u32, end: u32, maximum: f32) -> f32 {
  var weight = 0.0;
  for (var segment = first; segment < end; segment++) {
    let softmax = load_segment(s, segment);
    weight = fma(sampling_weight(softmax.maximum - maximum), softmax.sum, weight);
  }
  return weight;
}

fn sample_token(s: u32, u: f32) -> Sample {
  let segment_count = (params.vocab_size + SEGMENT - 1u) / SEGMENT;
  var softmax = load_segment(s, 0u);
  for (var segment = 1u; segment < segment_count; segment++) {
    softmax = merge_softmax(softmax, load_segment(s, segment));
  }
  let threshold = u * softmax.sum;
  var cumulative = 0.0;
  var before = 0.0;
  var run = 0u;
  var is_open = true;
  for (var first = 0u; first < segment_count; first += RUN_SEGMENTS) {
    let weight = run_weight(s, first, min(first + RUN_SEGMENTS, segment_count), softmax.maximum);
    if (is_open && weight > 0.0) {
      run = first;
      before = cumulative;
    }
    cumulative += weight;
    is_open = is_open && !(weight > 0.0 && cumulative > threshold);
  }
  let end = min((run + RUN_SEGMENTS) * SEGMENT, params.vocab_size);
  let token = draw_token(softmax.maximum, fma(u, softmax.sum, -before), run * SEGMENT, end);
  return Sample(token, logit_above(token, log_sum_exp(softmax)));
}

@compute @workgroup_size(LANES)
fn rollout_advance(@builtin(global_invocation_id) id: vec3u) {
  let s = id.x;
  if (s >= params.slot_count) { return; }
  var slot = slots[s];
  if (params.start == 1u) {
    if (slot.status == SLOT_EMPTY) { slot = start_episode(slot); }
  } else if (slot.status == SLOT_RUNNING) {
    var sample = Sample(0u, 0.0);
    if (!has_forced_token(slot)) {
      logits_at = s * params.vocab_size;
      let word = threefry(vec2u(params.key0, params.key1), vec2u(episodes[slot.episode].y, slot.position + 1u)).x;
      sample = sample_token(s, uniform_of(word));
    }
    slot = advance_slot(slot, sample.token, sample.logp);
  }
  slots[s] = slot;
  // A slot that waits shows the token it has yet to consume: whatever is computed for it is computed again later.
  token_S4[s] = vec4u(slot.token, slot.position, 0u, 0u);
}
