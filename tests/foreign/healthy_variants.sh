#!/bin/sh
# Makes healthy runs of other settings than the reference's for tests/foreign/confusion.ts.  Usage: healthy_variants.sh FOLDER
set -eu
folder=$1
agentrl=$(dirname -- "$0")/../../cli/agentrl
base=$folder/faults-0/base.safetensors

train() {
  name=$1
  shift
  "$agentrl" train --base "$base" --out "$folder/$name" "$@"
}

for seed in 0 1; do
  train "lr_half-$seed" --algo grpo --seed "$seed" --set lr=0.0005
  train "lr_twice-$seed" --algo grpo --seed "$seed" --set lr=0.002
  train "group4-$seed" --algo grpo --seed "$seed" --set groupSize=4
  train "group16-$seed" --algo grpo --seed "$seed" --set groupSize=16
  train "steps60-$seed" --algo grpo --seed "$seed" --steps 60
  train "reinforce-$seed" --algo reinforce --seed "$seed" --set preset=rl
  train "rloo-$seed" --algo rloo --seed "$seed"
  train "drgrpo-$seed" --algo drgrpo --seed "$seed"
  train "ppo-$seed" --algo ppo --seed "$seed"
done
