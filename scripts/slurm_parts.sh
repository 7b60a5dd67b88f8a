#!/usr/bin/env bash
# Runs ledg embed in shards, as a Slurm array: every task does its share
# and leaves it beside the file in --out, in a folder that all nodes share. Submit it from
# the root of the repository, with as many tasks as you like, counted from 0, and then the
# command that merges the shards:
#
#   job=$(sbatch --parsable --array=0-7 scripts/slurm_parts.sh embed --dataset folder \
#     --root photos --out photos.safetensors)
#   sbatch --dependency=afterok:$job --wrap "bin/ledg merge photos.safetensors"
#
# Submit the same again to continue what failed or ran out of time: a task continues where it
# was, and one that is complete computes nothing. All nodes should have processors of one kind:
# others round differently.
#SBATCH --job-name=ledg-parts
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --output=ledg-parts-%A_%a.log
set -euo pipefail

if [ $# -lt 1 ]; then
	echo "usage: sbatch --array=0-N scripts/slurm_parts.sh embed FLAGS" >&2
	exit 2
fi
: "${SLURM_ARRAY_TASK_ID:?submit this as an array: sbatch --array=0-N}"
if [ "${SLURM_ARRAY_TASK_MIN:-0}" != 0 ] || [ "${SLURM_ARRAY_TASK_STEP:-1}" != 1 ]; then
	echo "count the tasks from 0 without gaps: sbatch --array=0-N" >&2
	exit 2
fi

# LEDG names the program; the default is where go build -o bin/ledg ./scripts/ledg
# puts it. GOMAXPROCS follows the job's share of the machine.
ledg=${LEDG:-bin/ledg}
export GOMAXPROCS=${SLURM_CPUS_PER_TASK:-1}

# Slurm signals the shell alone; exec puts ledg in its place.
exec "$ledg" "$@" --shard "$SLURM_ARRAY_TASK_ID/${SLURM_ARRAY_TASK_COUNT:-1}"
