#!/usr/bin/env bash
# The main job, small: builds ledg and lets three methods spend the same budget on
# glyphs, from the same seed, with one domain held out: CEG and uniform queries as
# published, half of the labels before training and half late in it, and FixMatch
# with all of them before; then puts the three runs side by side, and writes them as a
# page to look at, report.html in the demo's folder. The first two share the epochs
# before they ask for more. Needs two cores and less than three minutes.
#
# Settings, from the environment: TARGET, SEED, BUDGET, EPOCHS, BACKEND, and OUT, a
# folder that does not exist yet (default: the first free one of runs/demo,
# runs/demo-2, ...).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

out=${OUT:-runs/demo}
for ((n = 2; ; n++)); do
	[ -z "${OUT:-}" ] && [ -e "$out" ] || break
	out=runs/demo-$n
done

go build -o bin/ledg ./scripts/ledg

for method in ceg uniform fixmatch; do
	timing=published
	[ $method = fixmatch ] && timing=once
	echo "$method:"
	bin/ledg train --dataset glyphs --target "${TARGET:-photo}" --method $method --timing $timing \
		--seed "${SEED:-1}" --budget "${BUDGET:-5%}" --epochs "${EPOCHS:-16}" \
		--backend "${BACKEND:-go}" --beginnings "$out/beginnings" --out "$out/$method" >/dev/null
done

echo
bin/ledg compare "$out/ceg" "$out/uniform" "$out/fixmatch"

echo
bin/ledg report "$out/ceg" "$out/uniform" "$out/fixmatch" --backend "${BACKEND:-go}" --out "$out/report.html"
