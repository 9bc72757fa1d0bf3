/** Which fields of a config.json may stand there unread: those that change no number of a forward without dropout. */
import { isRecord } from "../core/record.ts";

/** Of any model of transformers: how it is saved, trained, generates, and what its tokens and labels are called. */
const WITHOUT_EFFECT = new Set([
  // Saved and loaded.
  "_name_or_path",
  "_attn_implementation",
  "_attn_implementation_autoset",
  "_commit_hash",
  "transformers_version",
  "torch_dtype",
  "dtype",
  "use_bfloat16",
  "torchscript",
  "tf_legacy_loss",
  "use_cache",
  "keys_to_ignore_at_inference",
  "pretraining_tp",
  "base_model_tp_plan",
  "base_model_pp_plan",
  "unsloth_fixed",
  "unsloth_version",
  // Trained.
  "initializer_range",
  "attention_dropout",
  "hidden_dropout",
  "resid_pdrop",
  "embd_pdrop",
  "attn_pdrop",
  "gradient_checkpointing",
  // Reached: longer sequences turn on by the same angles, and windows are refused where they are used.
  "max_position_embeddings",
  "original_max_position_embeddings",
  "max_sequence_length",
  "max_window_layers",
  // What it returns, and what it is called for.
  "return_dict",
  "output_attentions",
  "output_hidden_states",
  "output_scores",
  "return_dict_in_generate",
  "architectures",
  "finetuning_task",
  "id2label",
  "label2id",
  "num_labels",
  "problem_type",
  "task_specific_params",
  "is_decoder",
  "tokenizer_class",
  "prefix",
  "decoder_start_token_id",
  // How tokens are drawn, when transformers does.
  "max_length",
  "min_length",
  "do_sample",
  "early_stopping",
  "num_beams",
  "num_beam_groups",
  "num_return_sequences",
  "diversity_penalty",
  "temperature",
  "top_k",
  "top_p",
  "typical_p",
  "repetition_penalty",
  "length_penalty",
  "no_repeat_ngram_size",
  "encoder_no_repeat_ngram_size",
  "bad_words_ids",
  "forced_bos_token_id",
  "forced_eos_token_id",
  "remove_invalid_values",
  "exponential_decay_length_penalty",
  "suppress_tokens",
  "begin_suppress_tokens",
  "bos_token_id",
  "eos_token_id",
  "pad_token_id",
  "sep_token_id",
  "unk_token_id",
]);

/** True of what says that something is not there. */
function isNeutral(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isRecord(value)) return Object.keys(value).length === 0;
  return value === null || value === false || value === 0 || value === "";
}

/**
 * The first field that nothing is known of, and that says more than that something is not there.
 * @param raw A parsed config.json.
 * @param read The fields that are read.
 */
export function unknownField(
  raw: unknown,
  read: readonly string[],
): { readonly name: string; readonly value: unknown } | undefined {
  if (!isRecord(raw)) return undefined;
  const known = new Set(read);
  const found = Object.entries(raw).find(([name, value]) =>
    !known.has(name) && !WITHOUT_EFFECT.has(name) && !isNeutral(value)
  );
  return found && { name: found[0], value: found[1] };
}
