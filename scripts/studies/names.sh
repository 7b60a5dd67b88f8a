#!/usr/bin/env bash
# names.sh NETWORK [FOLDER]: how well do class names alone do, and do labels pay? NETWORK is one of images and
# texts: OWNER/NAME on the Hugging Face hub (or HF_ENDPOINT), or its folder. It is tried on emoji and clothes,
# or on FOLDER with a folder for each site and in it one for each class.
#
# It embeds the images once, with class names; prints the accuracy of names alone (0 labels) by site; then
# trains with 0.5 to 5% of the labels (or BUDGETS), chosen by MaxHerding, with each site held out, 20 SEEDS:
# from names (clap) and without (logistic, gda), with first labels by names, and with logit adjustment. It
# prints the page. Nothing of a held-out site is labelled.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
net=$1 ledg=${LEDG:-ledg} out=${OUT:-names-study}
[ -d "$net" ] || net=hf:$net
mkdir -p "$out"
measure() { # NAME SITES FLAG...
	name=$1 targets=$2 && shift 2
	"$ledg" embed "$@" --net "$net" --names auto --yes --out "$out/$name.safetensors"
	echo "names alone (0 labels), $name, by site:"
	"$ledg" probe --pool "$out/$name.safetensors" --head zero-shot
	cat >"$out/$name.yaml" <<YAML
name: names-$name
about: Labels with and without names, on features of $net
dataset: features
preset: authors
targets: [$targets]
seeds: [$(seq -s, "${SEEDS:-20}")]
budgets: [${BUDGETS:-0.5%, 1%, 2%, 5%}]
set: {schedule.epochs: 1, schedule.timing: once, data.normalise: unit, exploration.initial: maxherding}
runs:
  - methods: [clap, logistic, gda]
  - methods: [clap, logistic]
    variants:
      - {name: names first, set: {exploration.initial: names}}
      - {name: adjusted, set: {generalization.logit_adjustment: 1}}
YAML
	"$ledg" study run "$out/$name.yaml" --dir "$out/$name" --root features="$out/$name.safetensors"
	"$ledg" table methods --dir "$out/$name" --baseline logistic --format markdown
}
if [ -n "${2:-}" ]; then
	measure "$(basename "$2")" "$(cd "$2" && ls -d -- */ | tr -d / | paste -sd,)" --dataset folder --root "$2" --layout '{site}/{class}/{name}'
else
	measure emoji "noto, twemoji, fluent, openmoji" --dataset emoji
	measure clothes "$(seq -s', ' -f 'home%02g' 14)" --dataset clothes
fi | tee "$out/page.md"
