#!/usr/bin/env bash
# Draws all figures of notebooks/results from the records that are committed there, in a
# second each; but speed-growth.svg, which scripts/bench.sh makes of measurements.
#
# Usage: scripts/figures.sh [FOLDER]    (default: notebooks/results/figures)
set -euo pipefail
out=$(realpath -m "${1:-notebooks/results/figures}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

ledg=$(mktemp -d)/ledg
trap 'rm -r "$(dirname "$ledg")"' EXIT
go build -o "$ledg" ./scripts/ledg
mkdir -p "$out"

figure() { "$ledg" figure "$1" --study "notebooks/results/$2" --out "$out/$3" "${@:4}" >/dev/null; }

figure epochs paper epochs.svg --method uniform-ce --method "ceg w/o L_ac w/o L_eg" --method ceg
figure sensitivity sensitivity sensitivity.svg
figure budget paper budget.svg
# The README's picture: the paper's timing against all labels before training.
figure epochs paper timing.svg \
	--method uniform-ce --method ceg --method fixmatch --method "uniform once"
# Of the run that 06_paper shows, whose map and scores are kept with its records.
for name in tsne scores asked; do
	"$ledg" figure "$name" --run notebooks/results/notebooks/glyphs-sketch-ceg-authors-5pct-s1-e12e2afbff --out "$out/$name.png" >/dev/null
done

features() { figure "$1" pacs-features "$2" --plan "$3" --preset authors "${@:4}"; }
features epochs features-epochs.svg features-training-pacs \
	--method "ceg published" --method uniform --method fixmatch --method uniform-ce
features budget features-training-budget.svg features-budgets-pacs \
	--method uniform --method fixmatch --method uniform-ce --method "uniform MaxHerding" --method "ceg published"
features budget features-budget.svg features-pacs \
	--method logistic --method "logistic TypiClust" --method "logistic MaxHerding" --method badge+logistic --method dropquery+logistic
