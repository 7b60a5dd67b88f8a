#!/usr/bin/env bash
# Draws all figures of notebooks/results from the records that are committed there, in a
# second each.
#
# Usage: scripts/figures.sh [FOLDER]    (default: notebooks/results/figures)
set -euo pipefail
out=$(realpath -m "${1:-notebooks/results/figures}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

ledg=$(mktemp -d)/ledg
trap 'rm -r "$(dirname "$ledg")"' EXIT
go build -o "$ledg" ./scripts/ledg
mkdir -p "$out"

figure() { "$ledg" figure "$1" --dir "notebooks/results/$2" --out "$out/$3" "${@:4}" >/dev/null; }

# The pages' figures, a message each.
low_budget() { figure budget "$1" "$2" --baseline "logistic random" --method "logistic random" --method "logistic MaxHerding" \
	--method '"fixmatch, preset ledg"' --method '"uniform CEG loss MaxHerding, preset ledg"' --title "$3"; }
low_budget few-labels-emoji few-labels.svg "Choosing which images to label gives most of the gain"

figure budget natural-shares/lite0 photographs.svg --baseline "logistic random" --method "logistic random" --method "logistic MaxHerding" \
	--method '"fixmatch preset, preset ledg"' --method '"fixmatch recipe, preset ledg"' --method '"uniform CEG loss MaxHerding, preset ledg"' \
	--rename '"MaxHerding + FixMatch, upfront (preset ledg), recipe=MaxHerding + FixMatch, upfront (preset pooled)"' \
	--rename '"MaxHerding + FixMatch, upfront (preset ledg), preset=MaxHerding + FixMatch, upfront (preset ledg)"' \
	--title "On photographs preset pooled, the default, gains most with 24 labels"

figure epochs equal-steps timing.svg --rename '"Random + CEG loss, upfront, b16=Random + CEG loss, upfront"' \
	--rename '"Random + FixMatch, upfront, b16=Random + FixMatch, upfront"' --rename '"CEG (published schedule), b16=CEG (published schedule)"' --title "On digits, labels from the start beat labels that come late" \
	--method "ceg published b16" --method "fixmatch once b16" --method "uniform once b16"

seeds() { figure budget seeds "$1" --plan features-seeds "${@:2}"; }
seeds preset.svg --title "The preset's lead over CEG as published shrinks with the number of labels" --baseline "ceg published" \
	--method "ceg published" --method '"fixmatch, preset ledg"' --method "uniform MaxHerding"
seeds choice-of-labels.svg --title "MaxHerding's lead over random labels shrinks with their number" --baseline uniform \
	--method uniform --method "uniform MaxHerding" --method "ceg published"

figure targets paper-clothes paper.svg --plan paper-clothes --budget 5% --title "On clothes FixMatch is mostly above CEG as published, cross-entropy below" \
	--baseline ceg --method ceg --method fixmatch --method "uniform once" --method uniform-ce --method '"ceg w/o S_r"'
figure sensitivity paper-emoji-sensitivity sensitivity.svg --title "Without L_eg CEG loses 2 points; other settings matter less"
renamed=()
for d in true merged random clustered style; do renamed+=(--rename "\"MaxHerding + FixMatch, upfront (preset ledg), $d domains=$d domains\""); done
figure targets domains-pacs domains.svg --preset ledg --title "Preset ledg: only sketch loses 5 points or more without true domains" "${renamed[@]}" \
	--baseline "fixmatch true domains" --method "fixmatch true domains" --method "fixmatch merged domains" \
	--method "fixmatch random domains" --method "fixmatch clustered domains" --method "fixmatch style domains"

# Drawn from records that no study has, or from tables of their pages.
LEDG_FIGURES=$out go test ./scripts/ledg -run TestFiguresOfPages -count 1 >/dev/null

# Of one run on clothes, whose map and scores are with its records: for the gallery.
of_run() { "$ledg" figure "$1" --run notebooks/results/clothes-run/features-many-ceg-authors-100-s1-8d8e63a32d-1d6ba11a \
	--root features=datasets/clothes/lite0.npz --out "$out/$1.svg" --title "$2" >/dev/null; }
of_run tsne "Shoes and pants form groups; most other clothes overlap"
of_run scores "Queried photos have an S_r near its maximum"
figure epochs paper-emoji epochs.svg --title "On emoji, labels from the start gain most" --method uniform-ce --method ceg --method "uniform once" --method fixmatch
figure budget paper-emoji budget-emoji.svg --title "On emoji CEG's queries differ little from random ones" \
	--baseline uniform --method uniform --method ceg --method badge-ce --method fixmatch
