#!/usr/bin/env bash
# Measures how long query strategies take on a large pool, beside scikit-activeml's of the same
# name, each in a process of its own on one core. Prints a Markdown table.
#
#   scripts/lab/strategies.sh [STRATEGY ...]      default: all of ledg's
#
#   ROWS=100000 COLS=768 CLASSES=20 PICKS=100     the pool, and the images to choose
#   MINUTES=10                                    longest time of one measurement
#   PYTHON=python3                                a Python that has scikit-activeml
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rows=${ROWS:-100000} cols=${COLS:-768} classes=${CLASSES:-20} picks=${PICKS:-100} minutes=${MINUTES:-10}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go test -c -vet=off -o "$scratch/active.test" ./ceg/active || exit 1
[ $# -gt 0 ] || set -- ceg ceg-batch entropy coreset badge kmeans typiclust probcover maxherding uherding bait dropquery
export GOMAXPROCS=1 OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 LEDG_SCALE="$rows $cols $classes $picks"

echo "| $picks of $rows x $cols | ledg, s of a core | GiB | scikit-activeml, s of a core | GiB | ratio |"
echo "| --- | --: | --: | --: | --: | --: |"
for s in "$@"; do
	own=$(STRATEGY=$s timeout "${minutes}m" "$scratch/active.test" -test.run xxx -test.bench Scale -test.benchtime 1x 2>"$scratch/log" |
		awk '/^BenchmarkScale\// { for (i = 3; i < NF; i += 2) v[$(i + 1)] = $i; printf "%.2f %.2f", v["cpu-s/op"], v["GiB"] }')
	other=
	if grep -q "\"$s\":" scripts/lab/yardstick/strategies.py; then
		other=$(timeout "${minutes}m" "${PYTHON:-python3}" scripts/lab/yardstick/strategies.py "$s" --rows "$rows" --cols "$cols" --classes "$classes" --picks "$picks" 2>"$scratch/log" |
			sed -n 's/.*"processor_seconds": \([0-9.]*\).*"peak_memory_bytes": \([0-9]*\).*/\1 \2/p' | awk '{ printf "%.2f %.2f", $1, $2 / 2^30 }')
		[ -n "$other" ] || other="failed:_$(tail -n 1 "$scratch/log" | tr ' ' _ | grep . || echo "over_$minutes""_minutes") -"
	fi
	echo "${own:-over_$minutes""_minutes -} ${other:-- -}" | awk -v s="$s" '{ n = split($0, f); for (i = 1; i <= n; i++) gsub("_", " ", f[i]); printf "| %s | %s | %s | %s | %s | %s |\n", s, f[1], f[2], f[3], f[4], (f[1] > 0 && f[3] > 0) ? sprintf("%.1f", f[3] / f[1]) : "-" }'
done
