#!/usr/bin/env bash
# Takes the picture of the labelling page in README and the photos guide: the example photos,
# 23 of 60 images labelled. Needs Chromium.
#
# Usage: scripts/labelling_page.sh [FILE]    (default: notebooks/guides/labelling-page.png)
set -euo pipefail
out=$(realpath -m "${1:-notebooks/guides/labelling-page.png}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "labelling_page: no Chromium is installed" >&2
	exit 1
}
dir=$(mktemp -d)
trap 'cd "$dir/try" && ../ledg label mine --stop >/dev/null 2>&1; rm -rf "$dir"' EXIT
go build -o "$dir/ledg" ./scripts/ledg
cd "$dir"
./ledg data example try >/dev/null
cd try
../ledg train --dataset folder --root photos --classes longsleeve,pants,t-shirt --budget 60 --out mine </dev/null || true # labels are missing
../ledg label export mine --format csv --out queries.csv
awk -F, 'NR == FNR { class[$1] = $2; next } FNR == 1 { print "id,label"; next } FNR <= 24 { print $1 "," class[$1] }' \
	labels.csv queries.csv >first.csv
../ledg label import mine --format csv --by ann first.csv
page=$(../ledg label mine --by ann --detach)
"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,470 --virtual-time-budget=10000 \
	--screenshot="$out" "$page" 2>/dev/null
