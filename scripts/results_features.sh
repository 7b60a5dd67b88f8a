#!/usr/bin/env bash
# Makes what notebooks/results says of features: the file of features of PACS, if it is not
# there, the studies on it, their records in notebooks/results/pacs-features, and the
# figure from the records. Stop and repeat it as you like.
#
# Usage: scripts/results_features.sh PACS FILE.safetensors [FOLDER]   (default: runs/features)
#        scripts/results_features.sh --draw [FOLDER]                  no runs: collects and draws
#
# PACS is the folder of the images, with the official lists in it or beside it. JOBS is the
# number of runs at a time (default 1).
set -euo pipefail
draw=''
if [ "${1:-}" = --draw ]; then
	draw=1
	shift
else
	pacs=$(realpath "${1:?the folder of PACS}")
	file=$(realpath -m "${2:?the file of features}")
	shift 2
fi
out=$(realpath -m "${1:-runs/features}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

go build -o bin/ledg ./scripts/ledg
records=notebooks/results/pacs-features
if [ -z "$draw" ]; then
	[ -e "$file" ] || bin/ledg embed --dataset pacs --root "$pacs" --net efficientnet-lite0 --weights imagenet --views 4 --out "$file"
	for s in features-training features-ablation features-candidates features-budgets features; do
		bin/ledg study run "scripts/studies/$s-pacs.yaml" --dir "$out" --root features="$file" --backend go --jobs "${JOBS:-1}"
	done
fi
bin/ledg study collect "$out" --out "$records" --no-training
scripts/figures.sh
