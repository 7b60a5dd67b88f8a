#!/usr/bin/env bash
# Prints how many of the labels that each finished run of a folder asked for are of
# each source domain, initial ones apart, and how many of them have a score S_r that
# another of them has too.
#
# Usage: scripts/asked_domains.sh [FOLDER]    (default: notebooks/results/glyphs)
set -euo pipefail
for run in "${1:-notebooks/results/glyphs}"/*/; do
	[ -e "$run/done" ] || continue
	awk -F, -v run="$(basename "$run")" '
		NR > 1 && $1 > 0 { asked[$3]++; n++; if ($6 != "" && seen[$6]++) same++ }
		NR > 1 { asked[$3] += 0 }
		END {
			printf "%s:", run
			for (d in asked) printf " %s %d", d, asked[d]
			printf " of %d, %d with the same S_r\n", n, same
		}' "$run/queries.csv"
done
