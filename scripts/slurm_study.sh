#!/usr/bin/env bash
# Runs a study as a Slurm array: every task takes runs that no other is working on,
# and all write to one folder, in which locks have to reach across the nodes (NFS 4, Lustre with -o flock). Submit it from the root
# of the repository, with as many tasks as you like, counted from 0:
#
#   sbatch --array=0-7 scripts/slurm_study.sh scripts/studies/table3.yaml [FLAGS]
#
# FLAGS go to ledg study run, such as --dir /shared/runs or --backend xla:cuda. Set
# LEDG_DATA to the folder of the data sets. Submit the same command again to
# continue what ran out of time: finished runs are not repeated, and the others go
# on from their last epoch. Slurm's signal comes early enough to end an epoch's
# checkpoint; without it nothing but the last epoch would be lost.
#SBATCH --job-name=ledg-study
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --time=24:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --output=ledg-study-%A_%a.log
set -euo pipefail

if [ $# -lt 1 ]; then
	echo "usage: sbatch --array=0-N scripts/slurm_study.sh STUDY.yaml [flags of ledg study run]" >&2
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
exec "$ledg" study run "$@"
