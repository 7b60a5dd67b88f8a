#!/usr/bin/env bash
# Makes the records of notebooks/results/glyphs again: runs the glyphs editions of the
# paper's studies and others (the paper's tables by one version are the plan
# scripts/studies/announced/paper.yaml), collects their records in notebooks/results/glyphs, and draws the
# figures from the records. All of it takes many hours on two cores (ledg
# study status says how far it is); stop and repeat it as you like, on several
# machines if they share the folder. Within a study, seeds come one after another,
# so that whatever is finished compares all methods.
#
# Usage: scripts/results_glyphs.sh [--draw] [FOLDER]    (default: runs/glyphs)
#   --draw   no runs: collects and draws what FOLDER has
#
# JOBS is the number of runs at a time (default 1).
set -euo pipefail
draw=''
if [ "${1:-}" = --draw ]; then
	draw=1
	shift
fi
out=$(realpath -m "${1:-runs/glyphs}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

go build -o bin/ledg ./scripts/ledg
studies="timing balanced batches table3 table4 epochs tsne table1 table2 strategies objectives"
records=notebooks/results/glyphs
if [ -z "$draw" ]; then
	for s in $studies; do
		bin/ledg study run "scripts/studies/$s-glyphs.yaml" --dir "$out" --backend go --jobs "${JOBS:-1}"
	done
fi

bin/ledg figure tsne --dir "$out" --plan tsne-glyphs --out "$out/tsne.png" # with the weights, which are not collected
bin/ledg study collect "$out" --out "$records"
scripts/figures.sh
