// slots: a slot plays one episode after the other: it consumes forced tokens (prompt, observation), else sampled ones,
// cuts calls, and asks the compiled gym (resident) or the host for the answer. Shared by both decoders.
// The kernel declares gym, episodes, queue and records, and params with the fields used here.
//   gym       u32: rows of (count, tokens…), row_words each: observations, prompts, valid calls; then transitions
//             [state, calls + 1] (next state, observation << 16, end << 24) and start states by task
//   episodes  (task, random id) of each episode; queue[0] is the next one to start
//   records   [episode, max_positions + 1] of (id | owner << 24, log-prob bits); the last entry is (length, turns)
const SLOT_EMPTY = 0u;
const SLOT_RUNNING = 1u;
const SLOT_WAITING = 2u;
const SLOT_DONE = 3u;
const OWNER_PROMPT = 1u;
const OWNER_POLICY = 2u;
const OWNER_TOOL = 3u;

struct Slot {
  status: u32,
  episode: u32,
  position: u32,
  token: u32,
  row: u32,
  row_index: u32,
  turns: u32,
  state: u32,
  call_length: u32,
}

fn record_token(slot: Slot, owner: u32, logp: f32) {
  let at = slot.episode * (params.max_positions + 1u) + slot.position;
  records[at] = vec2u(slot.token | (owner << 24u), bitcast<u32>(logp));
}

// Takes the next episode of the queue and its first prompt token.
fn start_episode(slot: Slot) -> Slot {
  var s = slot;
  let episode = atomicAdd(&queue[0], 1u);
  if (episode >= params.episode_count) {
    s.status = SLOT_DONE;
    return s;
  }
  let task = episodes[episode].x;
  s.status = SLOT_RUNNING;
  s.episode = episode;
  s.position = 0u;
  s.row = params.prompt_row + task;
  s.row_index = 1u;
  s.token = gym[s.row * params.row_words + 1u];
  s.turns = 0u;
  s.state = gym[params.start_offset + task];
  s.call_length = 0u;
  record_token(s, OWNER_PROMPT, 0.0);
  return s;
}

// The column of the call in the transition table: the valid call it equals, or the last column (malformed).
fn call_column(slot: Slot) -> u32 {
  // The call is the last tokens that were recorded.
  let call_at = slot.episode * (params.max_positions + 1u) + slot.position + 1u - slot.call_length;
  for (var c = 0u; c < params.call_count; c++) {
    let at = (params.call_row + c) * params.row_words;
    var is_same = gym[at] == slot.call_length;
    for (var i = 0u; is_same && i < slot.call_length; i++) {
      is_same = gym[at + 1u + i] == (records[call_at + i].x & 0xffffffu);
    }
    if (is_same) { return c; }
  }
  return params.call_count;
}

// The compiled gym's answer to a complete call.
fn answer_call(slot: Slot) -> Slot {
  var s = slot;
  let transition = gym[params.transition_offset + s.state * (params.call_count + 1u) + call_column(s)];
  s.turns += 1u;
  if ((transition >> 24u) == 1u || s.turns >= params.max_turns) {
    records[s.episode * (params.max_positions + 1u) + params.max_positions] = vec2u(s.position + 1u, s.turns);
    return start_episode(s);
  }
  s.state = transition & 0xffffu;
  s.row = (transition >> 16u) & 0xffu;
  s.row_index = 0u;
  s.call_length = 0u;
  return s;
}

fn has_forced_token(slot: Slot) -> bool {
  return slot.row_index < gym[slot.row * params.row_words];
}

// The slot after it consumed its token: with the next forced token, or else the sampled one.
fn advance_slot(slot: Slot, sampled: u32, logp: f32) -> Slot {
  var s = slot;
  s.position += 1u;
  if (has_forced_token(s)) {
    s.token = gym[s.row * params.row_words + 1u + s.row_index];
    s.row_index += 1u;
    record_token(s, select(OWNER_TOOL, OWNER_PROMPT, s.turns == 0u), 0.0);
    return s;
  }
  s.token = sampled;
  record_token(s, OWNER_POLICY, logp);
  s.call_length += 1u;
  if (sampled != params.call_end && s.call_length < params.max_call_tokens) { return s; }
  if (params.resident == 1u) { return answer_call(s); }
  s.status = SLOT_WAITING;
  return s;
}
