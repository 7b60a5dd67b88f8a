#!/usr/bin/env bash
# The main job, small: builds ledg and lets four methods spend the same budget on glyphs,
# from the same seed, with one domain held out: the preset ledg, which we advise (FixMatch,
# all labels before training, twice the epochs), CEG as published (half of them late in
# training), FixMatch in the epochs of the others, and cross-entropy on the labelled images
# alone, both with all labels before training; then puts the four runs side by side, and
# writes them as a page to look at, report.html in the demo's folder. One run of each is an
# example, not a comparison. Needs two cores and less than three minutes.
#
# Settings, from the environment: TARGET, SEED, BUDGET, EPOCHS (the preset has twice as
# many), BACKEND, and OUT, a folder that does not exist yet (default: the first free one of
# runs/demo, runs/demo-2, ...).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

epochs=${EPOCHS:-16}
out=${OUT:-runs/demo}
for ((n = 2; ; n++)); do
	[ -z "${OUT:-}" ] && [ -e "$out" ] || break
	out=runs/demo-$n
done

./scripts/build.sh

demo() { # NAME, and the settings that make it
	echo "$1:"
	bin/ledg train --dataset glyphs --target "${TARGET:-photo}" --seed "${SEED:-1}" --budget "${BUDGET:-5%}" \
		--epochs "$epochs" --backend "${BACKEND:-go}" --out "$out/$1" "${@:2}" >/dev/null
}
demo ledg --preset ledg --epochs $((2 * epochs))
demo ceg --method ceg --timing published
demo fixmatch --method fixmatch --timing once
demo labelled-only --method uniform-ce --timing once
runs=("$out"/{ledg,ceg,fixmatch,labelled-only})

echo
bin/ledg compare "${runs[@]}"

echo
bin/ledg report "${runs[@]}" --backend "${BACKEND:-go}" --out "$out/report.html"
