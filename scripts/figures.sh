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

# Labels upfront against the published schedule, at equal steps.
figure epochs equal-steps timing.svg \
	--method "uniform-ce once b16" --method "ceg published b16" --method "fixmatch once b16" --method "uniform once b16"

# On features of PACS, twenty seeds.
seeds() { figure budget seeds "$1" --plan features-seeds "${@:2}"; }
seeds preset.svg --method '"fixmatch, preset ledg"' --method "ceg published" --method "uniform MaxHerding"
seeds choice-of-labels.svg --method uniform --method "uniform MaxHerding" --method "ceg published" --method "ceg after MaxHerding"
seeds features.svg --method uniform-ce --method uniform --method fixmatch --method "logistic MaxHerding"

# The grid of the preset, by accuracy on source validation.
figure targets preset preset-selection.png --source-val \
	--plan preset-features-ceg --plan preset-features-fixmatch --plan preset-features-ce \
	--method "uniform-ce maxherding root last b16 r0.002" --method "uniform maxherding root ema b16 r0.001" \
	--method "fixmatch typiclust root last b16 r0.002" --method "fixmatch maxherding root last b8 r0.002" \
	--method "fixmatch maxherding root ema b8 r0.002"

# Drawn from records that no study has, or from tables of their pages.
LEDG_FIGURES=$out go test ./scripts/ledg -run TestFiguresOfPages -count 1 >/dev/null

figure budget few-labels-emoji few-labels.svg --method '"fixmatch, preset ledg"' --method "logistic MaxHerding" \
	--method '"uniform CEG loss MaxHerding, preset ledg"' --method "logistic random" --method "ceg published"

figure budget few-labels-pacs few-labels-pacs.svg --method '"fixmatch, preset ledg"' --method "logistic MaxHerding" \
	--method '"uniform CEG loss MaxHerding, preset ledg"' --method "logistic random" --method "ceg published"

figure budget few-labels-lite2-pacs few-labels-lite2-pacs.svg --method '"fixmatch, preset ledg"' --method "logistic MaxHerding" \
	--method '"uniform CEG loss MaxHerding, preset ledg"' --method "logistic random" --method "ceg published"

figure budget few-labels-lite2 few-labels-lite2.svg --method '"fixmatch, preset ledg"' --method "logistic MaxHerding" \
	--method '"uniform CEG loss MaxHerding, preset ledg"' --method "logistic random" --method "ceg published"

# The paper's figures: on features of emoji, ten seeds; and what needs pixels, on glyphs.
figure budget paper-emoji budget-emoji.svg
figure epochs paper-emoji epochs.svg --method uniform-ce --method "ceg w/o L_ac w/o L_eg" --method ceg --method "uniform once" --method fixmatch
figure budget paper budget.svg
figure sensitivity paper-emoji-sensitivity sensitivity.svg
figure targets domains-emoji domains.svg --preset authors
figure targets domains-glyphs-early domains-glyphs.svg --preset authors --plan domains-glyphs-early --plan domains-glyphs-early-merged
figure epochs paper objectives.svg --method jigen --method fact --method ceg --method "uniform-ce all labels at once"
# Of one run on emoji, whose map and scores are with its records. The repository has tsne and queried with 256 colours,
# a third of the bytes: pngquant --nofs --force --ext .png 256 FILE
for name in tsne scores queried; do
	"$ledg" figure "$name" --run notebooks/results/emoji-run/features-noto-ceg-authors-5pct-s71-6a90e26750 \
		--root features=datasets/emoji/lite0.npz --out "$out/$name.png" >/dev/null
done

# Fine-tuned on PACS, one seed.
figure budget finetune-pacs finetune.svg --method '"fixmatch, preset ledg"' --method "ceg published" --method fixmatch --method uniform-ce

# Fine-tuned on emoji, three seeds.
figure targets finetune-emoji finetune-emoji.svg
