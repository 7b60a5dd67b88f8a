#!/usr/bin/env bash
# Makes the records behind the README's tables on glyphs: CEG, uniform querying
# with CEG's training and uniform querying with cross-entropy only, four targets x
# three seeds; the full-label bound (one seed) and 5% labelled at random at once
# (three seeds). About an hour on two cores; interrupt and repeat it as you like.
#
# Usage: scripts/results_glyphs.sh [FOLDER]    (default: runs/glyphs)
set -euo pipefail
out=$(realpath -m "${1:-runs/glyphs}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

go build -o bin/ledg ./scripts/ledg
train() { bin/ledg train --dataset glyphs --backend go --resume --quiet "$@" >/dev/null; }

targets="cartoon photo print sketch"
for seed in 1 2 3; do
	for target in $targets; do
		for method in uniform-ce ceg uniform; do
			echo "$target, $method, seed $seed"
			train --target $target --method $method --seed $seed --out "$out/main/$target-$method-seed$seed"
		done
		train --target $target --method uniform-ce --initial-share 1 --seed $seed --out "$out/bounds/$target-random5-seed$seed"
	done
done
for target in $targets; do
	train --target $target --method uniform-ce --budget 100% --initial-share 1 --out "$out/bounds/$target-full-seed1"
done
bin/ledg compare "$out"/main/* --baseline uniform-ce
bin/ledg compare "$out"/main/* --baseline uniform
bin/ledg compare "$out"/bounds/*-full-*
bin/ledg compare "$out"/bounds/*-random5-*
