/** A small log of each form of text, with invented numbers under true keys; each trap of its form is in it. */

/** trainer_state.json: train, eval and summary rows, null, bare NaN, a key of settings after the rows. */
export const TRAINER_STATE_TEXT = `{
  "best_metric": null,
  "epoch": 0.5,
  "eval_steps": 20,
  "global_step": 30,
  "is_hyper_param_search": false,
  "log_history": [
    {
      "completions/mean_length": 201.4,
      "entropy": 0.41,
      "epoch": 0.1,
      "grad_norm": 0.12,
      "kl": null,
      "learning_rate": 9.9e-07,
      "loss": 0.0001,
      "reward": 0.44,
      "rewards/tests_pass/mean": 0.44,
      "step": 10
    },
    {
      "epoch": 0.2,
      "grad_norm": NaN,
      "learning_rate": 8.8e-07,
      "loss": -0.0,
      "reward": 0.5,
      "step": 20,
      "val/ratio_var": Infinity
    },
    {
      "epoch": 0.2,
      "eval_loss": 0.25,
      "eval_reward": 0.375,
      "eval_runtime": 12.5,
      "step": 20
    },
    {
      "epoch": 0.3,
      "loss": 0.0003,
      "reward": 0.625,
      "step": 30,
      "tools": ["a]", {"loss": 99}]
    },
    {
      "epoch": 0.3,
      "step": 30,
      "total_flos": 0.0,
      "train_loss": 0.0002,
      "train_runtime": 81.5
    }
  ],
  "logging_steps": 10,
  "max_steps": 2000,
  "stateful_callbacks": {
    "TrainerControl": {"args": {"log_history": [{"loss": 77, "epoch": 1, "step": 5}]}}
  },
  "trial_params": null
}
`;

/** The Trainer's console under transformers 4: bars that end in CR, a dict over two lines, one without its brace, an evaluation. */
export const HF_CONSOLE_TEXT = [
  "Map: 100%|██████████| 5000/5000 [00:02<00:00, 2310.11 examples/s]\n",
  "\r  0%|          | 0/40 [00:00<?, ?it/s]\r 25%|██▌       | 10/40 [00:15<00:46,  1.5s/it]",
  "\r                                        \r{'loss': 0.0, 'grad_norm': 0.0925, 'learning_rate': 9e-07, 'reward': 0.25, 'epoch': 0.1}\n",
  "\r 25%|██▌       | 10/40 [00:15<00:46,  1.5s/it]\r 50%|█████     | 20/40 [00:31<00:31,  1.5s/it]",
  "{'loss': 0.0012, 'grad_norm': nan, 'learning_rate': 8e-07,\n 'reward': 0.5, 'epoch': 0.2}\n",
  "\r  0%|          | 0/5 [00:00<?, ?it/s]\r100%|██████████| 5/5 [00:02<00:00,  2.5it/s]\n",
  "{'eval_loss': 0.125, 'eval_reward': 0.75, 'epoch': 0.2}\n",
  "some other line with 'quotes': and {braces}\n",
  "\r 75%|███████▌  | 30/40 [00:48<00:16,  1.6s/it]\n",
  " 'loss': -0.0004, 'grad_norm': 0.5, 'learning_rate': 7e-07, 'reward': 0.625, 'epoch': 0.3}\n",
  "{'train_runtime': 64.5, 'train_loss': 0.0003, 'epoch': 0.4}\n",
].join("");

/** The Trainer's console under transformers 5: every value a text of four significant digits. */
export const HF_STRINGS_TEXT = [
  " 10%|█         | 1/10 [00:01<00:09,  1.0s/it]\r",
  "{'loss': '0', 'grad_norm': '0.1234', 'num_tokens': '1.244e+04', 'reward': '1', 'epoch': '0.1'}\n",
  " 20%|██        | 2/10 [00:02<00:08,  1.0s/it]\r",
  "{'loss': '-1.5e-05', 'grad_norm': 'nan', 'num_tokens': '2.488e+04', 'reward': '0.9996', 'epoch': '0.2'}\n",
].join("");

/** ms-swift's logging.jsonl. */
export const SWIFT_TEXT = [
  '{"loss": 0.0, "reward": 0.125, "reward_std": 0.21650635, "memory(GiB)": 31.5, "global_step/max_steps": "1/4389", "percentage": "0.02%", "elapsed_time": "12s"}\n',
  '{"loss": 1.5e-07, "reward": 0.25, "reward_std": 0.0, "memory(GiB)": 31.5, "global_step/max_steps": "5/4389", "percentage": "0.11%", "elapsed_time": "1m 2s"}\n',
  '{"train_runtime": 64.5, "train_loss": 0.0003}\n',
].join("");

const RAY = "\x1b[36m(TaskRunner pid=4711, ip=10.0.0.2)\x1b[0m ";

/** verl's console: prefixes, colours, other lines, a unit in a key, a wrapped step, step 0 twice, numbers of three decimals. */
export const VERL_TEXT = [
  "{'actor_rollout_ref': {'actor': {'loss': 1, 'epoch': 2}}}\n",
  `${RAY}step:0 - val-core/gsm8k/acc/mean@1:0.125\n`,
  "\x1b[36m(WorkerDict pid=99)\x1b[0m INFO 12-01 step: 4 - memory:12 GB\x1b[32m [repeated 4x across cluster]\x1b[0m\n",
  `${RAY}step:0 - global_seqlen/min:512.000 - actor/ppo_kl:-0.000 - actor/lr(1e-4):0.010 - critic/score/mean:0.250\n`,
  `${RAY}Training Progress:   1%|          | 1/105 [00:31<53:20, 31.1s/it]step:1 - global_seqlen/min:514.000\n`,
  "(WorkerDict pid=99) a line of another process - x:1\n",
  `${RAY} - actor/ppo_kl:nan - actor/lr(1e-4):0.020\n`,
  `${RAY} - critic/score/mean:0.375 - val-aux/my data: set/acc:inf - note:text\n`,
  `${RAY}(end) - actor/ppo_kl:9.000\n`,
  `${RAY} - actor/ppo_kl:8.000\n`,
  `${RAY}step:2 - actor/ppo_kl:0.001 - critic/score/mean:0.500 - actor/lr(1e-4):0.030 [repeated 4x across cluster]\n`,
  "global_step:7 - actor/ppo_kl:7.000\n",
].join("");

/** verl's console with NumPy 2 and full precision, after a restart at step 2; the last line has no end. */
export const VERL_NUMPY_TEXT = [
  "step:1 - critic/score/mean:np.float64(0.10000000149011612) - actor/entropy:0.5\n",
  "step:2 - critic/score/mean:np.float64(nan) - actor/entropy:0.25\n",
  "step:3 - critic/score/mean:np.float64(0.75) - actor/entropy:0.125\n",
  "step:2 - critic/score/mean:np.float64(0.625) - actor/entropy:1e-05\n",
  "step:3 - critic/score/mean:0.0 - actor/entropy:0.0625 - timing_s/gen:12.5",
].join("");

/** verl's file logger. */
export const VERL_JSONL_TEXT = [
  '{"step":0,"data":{"val-core/gsm8k/acc/mean@1":0.125}}\n',
  '{"step":1,"data":{"actor/pg_loss":-0.01,"actor/grad_norm":null,"critic/score/mean":0.25}}\n',
  '{"step":2,"data":{"actor/pg_loss":-0.02,"actor/grad_norm":0.5,"critic/score/mean":0.375}}\n',
].join("");

/** prime-rl's metrics.jsonl: several rows per step, an orchestrator that lags, a value that was not finite left out. */
export const PRIME_JSONL_TEXT = [
  '{"step":0,"time":1700000000.5,"loss/mean":0.5,"mismatch_kl/all/mean":0.001,"entropy/all/mean":0.25}\n',
  '{"step":0,"time":1700000001.5,"optim/lr":1e-06,"optim/grad_norm":0.125}\n',
  '{"step":1,"time":1700000010.5,"loss/mean":0.25,"mismatch_kl/all/mean":0.002}\n',
  '{"step":0,"time":1700000011.5,"train/agg/all/solver/reward/mean":0.375,"train/agg/all/solver/solved_none":0.5}\n',
  '{"step":1,"time":1700000012.5,"train/agg/all/solver/reward/mean":0.625,"train/agg/all/solver/solved_none":0.25}\n',
].join("");

/** prime-rl's trainer console since 2026. */
export const PRIME_CONSOLE_TEXT = [
  "\x1b[2m12:01:33\x1b[0m \x1b[32m   INFO\x1b[0m Starting step 0 | loading\n",
  "12:01:43    INFO Step 0 |   8.4s | Loss 0.0123 | Entropy 0.4100 | Mismatch KL 0.0007 | Grad. Norm 0.2100 | LR 1.00e-06 | Throughput 1234 tokens/s | MFU 12.5% | Peak Mem. 20.1 GiB\n",
  "12:01:53 SUCCESS Step 1 |  10.0s | Loss nan | Entropy 0.5000 | Mismatch KL 0.0010 | Grad. Norm 0.0000 | LR 1.00e-06 | Throughput 1200 tokens/s | MFU 12.0% | Peak Mem. 20.1 GiB (25.1%)\n",
].join("");

/** prime-rl's consoles before 2026. */
export const PRIME_COLON_TEXT = [
  "Step 0 | Time: 348.53s | Loss: 0.0019 | Entropy: 0.2500 | Mismatch KL: -0.0001 | Grad. Norm: 0.5000\n",
  "Step 0 | Time: 12.25s | Reward: 0.3750 | Seq. Length: 512.5 tokens/sample | Max. Off-Policy Level: 1\n",
].join("");

/** tinker-cookbook's metrics.jsonl. */
export const TINKER_TEXT = [
  '{"step":0,"progress/batch":0,"progress/done_frac":0.5,"env/all/reward/total":0.25,"optim/kl_sample_train_v1":-0.001,"optim/lr":0.0001}\n',
  '{"step":1,"progress/batch":1,"progress/done_frac":1.0,"env/all/reward/total":0.5,"optim/kl_sample_train_v1":0.002,"optim/lr":0.0001}\n',
].join("");

/** OpenRLHF's console. */
export const OPENRLHF_TEXT = [
  "(PPOTrainer pid=12) 2026-02-03 10:00:00 INFO ✨ Global step 1: {'policy_loss': -0.015625, 'actor_lr': 5e-07, 'reward': 0.25, 'kl': 0, 'generated': ['a', 'b']}\n",
  "INFO Global step 2 is next\n",
  "Global step 2: {'policy_loss': tensor(0.5), 'actor_lr': 5e-07, 'reward': np.float32(0.375), 'kl': nan}\n",
].join("");

/** slime's console: rollouts and optimizer steps, two of them a rollout. */
export const SLIME_TEXT = [
  "(RolloutManager pid=7, ip=10.0.0.1) [2026-02-03 10:00:00] rollout.py:123 - rollout 0: {'rollout/raw_reward': 0.25, 'rollout/zero_std/count_0.0': 3, 'rollout/step': 0}\n",
  "(RolloutManager pid=7, ip=10.0.0.1) [2026-02-03 10:00:00] rollout.py:140 - perf 0: {'perf/rollout_time': 12.5}\n",
  "(MegatronTrainRayActor pid=8) [2026-02-03 10:00:09] model.py:50 - step 0: {'train/loss': 0.5, 'train/ppo_kl': 0.0, 'train/step': 0}\n",
  "(MegatronTrainRayActor pid=8) [2026-02-03 10:00:10] model.py:50 - step 1: {'train/loss': 0.25, 'train/ppo_kl': 0.001, 'train/step': 1}\n",
  "(RolloutManager pid=7) [2026-02-03 10:00:20] rollout.py:123 - rollout 1: {'rollout/raw_reward': 0.375, 'rollout/step': 1}\n",
  "(RolloutManager pid=7) [2026-02-03 10:00:20] rollout.py:160 - eval 1: {'eval/aime': 0.125}\n",
  "(MegatronTrainRayActor pid=8) step 2: {'train/loss': nan, 'train/ppo_kl': 0.002, 'train/step': 2}\n",
].join("");

/** SkyRL's console. */
export const SKYRL_TEXT = [
  "\x1b[36m(skyrl_entrypoint pid=31)\x1b[0m 2026-02-03 10:00:00 | INFO | trainer - Started: 'step'\n",
  "\x1b[36m(skyrl_entrypoint pid=31)\x1b[0m Step 1:\n",
  "\x1b[36m(skyrl_entrypoint pid=31)\x1b[0m {'generate/avg_num_tokens': '312.5000',\n",
  "\x1b[36m(vllm pid=32)\x1b[0m INFO engine line\n",
  "\x1b[36m(skyrl_entrypoint pid=31)\x1b[0m  'policy/final_loss': '-0.0125',\n",
  "\x1b[36m(skyrl_entrypoint pid=31)\x1b[0m  'reward/avg_raw_reward': '0.2500'}\n",
  "Step 2: done\n",
  "Step 2:\n",
  "{'generate/avg_num_tokens': '300.0000', 'policy/final_loss': 'nan',\n",
  " 'reward/avg_raw_reward': '0.3750'}\n",
].join("");

/** NeMo-RL's console. */
export const NEMO_TEXT = [
  "========================= Step 1/100 =========================\n",
  "▶ Preparing batch...\n",
  "📊 Training Results:\n",
  "  • Loss: 0.0123\n",
  "  • Generation KL Error: 0.0004\n",
  "  • Avg Reward: 0.2500\n",
  "  • Mean Generation Length: 312.5000\n",
  "⏱️  Timing:\n",
  "  • Total step time: 12.34s\n",
  "  • policy_training: 5.12s (41.5%)\n",
  "  • Mode: fast\n",
  "(Controller pid=5) ========================= Step 2/100 =========================\n",
  "(Controller pid=5)   • Loss: nan\n",
  "(Controller pid=5)   • Avg Reward: 0.3750\n",
].join("");

/** W&B's history: the trainer's own step outranks W&B's, rows without it follow the one before. */
export const WANDB_TEXT = [
  '{"_step":0,"_timestamp":1700000000.5,"_runtime":1.5,"train/global_step":10,"train/loss":0.5,"train/reward":0.25}\n',
  '{"_step":1,"_timestamp":1700000001.5,"_runtime":2.5,"train/global_step":20,"train/loss":"NaN","train/reward":0.375}\n',
  '{"_step":2,"_timestamp":1700000002.5,"_runtime":3.5,"table":{"_type":"table-file","nrows":4},"eval/score":0.125}\n',
].join("");

/** A JSONL of the user's own: nested, a line of junk, half a last line. */
export const JSONL_TEXT = [
  '{"iteration":1,"stats":{"reward":0.25,"kl":NaN},"tag":"a","ok":true}\n',
  "warming up\n",
  '{"iteration":2,"stats":{"reward":0.375,"kl":0.001},"tag":"b","ok":true,"list":[1,2]}\n',
  '{"iteration":3,"stats":{"reward":0.5,"kl":0.00',
].join("");

/** A bare list of rows. */
export const JSON_LIST_TEXT = '[{"step":1,"score":0.25},{"step":2,"score":NaN,"a":{"b":2}}]';

/** All of them, with the form that each must be found to be. */
export const TEXT_FIXTURES: readonly (readonly [form: string, text: string])[] = [
  ["trainer_state", TRAINER_STATE_TEXT],
  ["trainer_state", JSON.stringify([{ loss: 0.5, epoch: 0.1, step: 1 }])],
  ["hf_console", HF_CONSOLE_TEXT],
  ["hf_console", HF_STRINGS_TEXT],
  ["swift_jsonl", SWIFT_TEXT],
  ["verl_console", VERL_TEXT],
  ["verl_console", VERL_NUMPY_TEXT],
  ["verl_jsonl", VERL_JSONL_TEXT],
  ["prime_rl_jsonl", PRIME_JSONL_TEXT],
  ["prime_rl_console", PRIME_CONSOLE_TEXT],
  ["prime_rl_console", PRIME_COLON_TEXT],
  ["tinker_jsonl", TINKER_TEXT],
  ["openrlhf_console", OPENRLHF_TEXT],
  ["slime_console", SLIME_TEXT],
  ["skyrl_console", SKYRL_TEXT],
  ["nemo_rl_console", NEMO_TEXT],
  ["wandb_jsonl", WANDB_TEXT],
  ["jsonl", JSONL_TEXT],
  ["json_list", JSON_LIST_TEXT],
];
