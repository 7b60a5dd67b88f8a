#!/usr/bin/env bash
# The main job, small: builds ledg, and compares four ways to choose and use 60 labels on photos of
# clothes from 14 homes and of many people (the data set clothes). Each of four homes in turn is the
# unseen domain, with three seeds: 48 runs on features that are in the repository, in half a minute to a
# minute on two free cores. Prints accuracies, and differences to Random + logistic regression with intervals over
# targets; writes a page with the queried pictures, report.html in the demo's folder.
#
#   scripts/demo.sh            this
#   scripts/demo.sh --pixels   networks from scratch on the images of glyphs instead: one run of
#                              four methods (an example, not a comparison), three minutes
#
# Settings, from the environment: BACKEND, GOGC, and OUT, a folder that does not exist yet
# (default: the first free one of runs/demo, runs/demo-2, ...). Of --pixels also TARGET, SEED,
# BUDGET and EPOCHS (the preset has twice as many).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

case "${1:-}" in
'' | --pixels) ;;
*)
	echo "usage: scripts/demo.sh [--pixels], got $1" >&2
	exit 2
	;;
esac

backend=${BACKEND:-go}
out=${OUT:-runs/demo}
for ((n = 2; ; n++)); do
	[ -z "${OUT:-}" ] && [ -e "$out" ] || break
	out=runs/demo-$n
done

./scripts/build.sh

if [ -z "${1:-}" ]; then
	# Fewer garbage collections: up to 0.8 GB of memory instead of 0.3, and a tenth less time.
	export GOGC=${GOGC:-400}
	bin/ledg study run scripts/studies/features-clothes.yaml --dir "$out" --jobs 2 --quiet --backend "$backend" \
		--root features=datasets/clothes/lite0.npz >/dev/null
	bin/ledg table methods --dir "$out"
	echo
	bin/ledg table targets --dir "$out" --baseline "logistic random"
	echo
	bin/ledg report "$out"/features-home04-*-s1-* --backend "$backend" --out "$out/report.html"
	exit
fi

epochs=${EPOCHS:-16}
demo() { # NAME, and the settings that make it
	echo "$1:"
	bin/ledg train --dataset glyphs --target "${TARGET:-photo}" --seed "${SEED:-1}" --budget "${BUDGET:-5%}" \
		--epochs "$epochs" --backend "$backend" --out "$out/$1" "${@:2}" >/dev/null
}
demo ledg --preset ledg --epochs $((2 * epochs))
demo ceg --method ceg --timing published
demo fixmatch --method fixmatch --timing once
demo labelled-only --method uniform-ce --timing once
runs=("$out"/{ledg,ceg,fixmatch,labelled-only})

echo
bin/ledg compare "${runs[@]}"

echo
bin/ledg report "${runs[@]}" --backend "$backend" --out "$out/report.html"
