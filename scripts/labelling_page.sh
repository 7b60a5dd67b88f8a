#!/usr/bin/env bash
# Takes the pictures of README and the photos guide on the example photos: the labelling page with 23 of
# 60 images labelled, and a loop of 14 seconds of terminal and page. Needs Chromium, and Python with
# Pillow for the loop.
#
# Usage: scripts/labelling_page.sh [FOLDER]    (default: notebooks/guides)
set -euo pipefail
out=$(realpath -m "${1:-notebooks/guides}")
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "labelling_page: no Chromium is installed" >&2
	exit 1
}
dir=$(mktemp -d)
trap 'cd "$dir/try" && ledg label mine --stop >/dev/null 2>&1; rm -rf "$dir"' EXIT
go build -o "$dir/ledg" ./scripts/ledg
export PATH="$dir:$PATH"
cd "$dir"
ledg data example try >/dev/null
cd try

shot() { # FILE ADDRESS
	"$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1000,470 --virtual-time-budget=10000 \
		--screenshot="$1" "$2" 2>/dev/null
}
terminal() { # FILE, and text on standard input
	{
		echo '<meta charset="utf-8"><body style="margin:0;background:#1e2329;color:#e6e6e6"><pre style="font:20px/1.5 monospace;padding:12px 20px">'
		sed 's/&/\&amp;/g; s/</\&lt;/g; s/^\$.*/<b style="color:#8ecbff">&<\/b>/'
	} >"$dir/page.html"
	shot "$1" "file://$dir/page.html"
}
imported() { # N: the first N queried images are labelled
	awk -F, -v n="$1" 'NR == FNR { class[$1] = $2; next } FNR == 1 { print "id,label"; next } FNR <= n + 1 { print $1 "," class[$1] }' \
		labels.csv queries.csv >first.csv
	ledg label import mine --format csv --by ann first.csv >/dev/null 2>&1
}

train='ledg train --dataset folder --root photos --classes longsleeve,pants,t-shirt --budget 60 --out mine'
$train </dev/null >/dev/null 2>&1 || true # labels are missing
ledg label export mine --format csv --out queries.csv
said="\$ ${train/ --classes/ \\
    --classes} --label"
terminal "$dir/00.png" <<<"$said"
for n in 0 1 2 3 4 5 22 23; do
	[ "$n" = 0 ] || imported "$n"
	page=$(ledg label mine --by ann --detach)
	shot "$dir/$((n + 10)).png" "$page"
	ledg label mine --stop >/dev/null 2>&1
done
cp "$dir/33.png" "$out/labelling-page.png"
imported 60
ledg train --resume --out mine 2>/dev/null | sed -n '/^Estimated/,/^  on more/p' | sed '1s/, by .*//; s/, each of .*//' >estimate.txt
terminal "$dir/40.png" <<<"$said"$'\n'"$(cat estimate.txt)"
{
	ledg site mine --images many
	ledg site --out sites/many --ask
	ledg label import sites/many many.csv --format csv
	ledg site --out sites/many
} >site.txt 2>/dev/null
terminal "$dir/41.png" <<<$'$ ledg site mine --images many --ask\n'"$(tail -n 30 site.txt | sed -n '/^audit/,/^  gain/p' | sed '1s/ outside.*/:/')"

python3 - "$dir" "$out/photos.webp" <<'PYTHON'
import glob, sys
from PIL import Image
frames = [Image.open(f).convert("RGB").resize((800, 376), Image.Resampling.LANCZOS) for f in sorted(glob.glob(sys.argv[1] + "/[0-9]*.png"))]
frames[0].save(sys.argv[2], save_all=True, append_images=frames[1:], duration=[2000] + [800] * (len(frames) - 3) + [2800, 2800], loop=0, quality=60, method=6)
PYTHON
