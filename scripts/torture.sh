#!/usr/bin/env bash
# Ill-treats ledg for a bounded time, and prints what was tried and what was lost:
#
#   mutate  changes bytes of files that ledg reads (labels, exports, a ledger, pictures,
#           arrays, tables) and reads them: each call ends within 10 seconds, in 3 GB of
#           addresses, without a stack trace, with one line if it fails, and leaves the
#           files as they are, to the byte
#   kill    kills imports of answers and starts them again: what was acknowledged is there
#   fill    lets the disk be full, or files be limited, in the middle of imports: the
#           ledger is whole afterwards, and has what was acknowledged
#   train   kills a training and resumes it: its records equal those of one that was not
#   nets    changes numbers, operations and names in ONNX files, and computes and trains
#           them: each call ends within 10 seconds and 2 GB, with features or one line.
#           NETS says how many (default 0, as each takes half a second; it needs Go)
#
# Usage: scripts/torture.sh [SECONDS] (default 60; a quarter of them for each, and train
# ends its run). LEDG names the program (default: one that is built here), SEED makes the
# random choices repeatable. The exit status is 1 if anything was lost.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
seconds=${1:-60}
if [ -z "${LEDG:-}" ]; then
	source "$here/scripts/need-go.sh"
	go build -o bin/ledg ./scripts/ledg || exit 1
	LEDG=$PWD/bin/ledg
fi
RANDOM=${SEED:-1}
dir=$(mktemp -d)
export XDG_CACHE_HOME=$dir/cache
trap 'chmod -R u+w "$dir" 2>/dev/null; umount "$dir/full" 2>/dev/null; rm -rf "$dir"' EXIT
lost=0

# lose tells of a loss.
lose() {
	echo "LOST: $*" >&2
	lost=$((lost + 1))
}

# random prints a number below $1.
random() { echo $(((RANDOM * 32768 + RANDOM) % $1)); }

# pictures makes n grey pictures in a folder (PGM is none of ledg's formats, BMP is).
pictures() {
	local i
	mkdir -p "$1/day/cat" "$1/day/dog" "$1/night/cat" "$1/night/dog"
	for ((i = 0; i < $2; i++)); do
		# A BMP of 4 x 4 pixels of 24 bits, the first of which is another one in each file.
		{
			printf 'BM\146\0\0\0\0\0\0\0\066\0\0\0\050\0\0\0\4\0\0\0\4\0\0\0\1\0\030\0\0\0\0\0\060\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
			printf "\\$(printf %03o $((i % 256)))\\$(printf %03o $((i / 256)))"
			head -c 46 /dev/zero
		} >"$1/$([ $((i % 2)) = 0 ] && echo day || echo night)/$([ $((i / 2 % 2)) = 0 ] && echo cat || echo dog)/$i.bmp"
	done
}

# run calls ledg within the limits, and checks how it ends. Its output is in $dir/out and
# $dir/err, its status the function's.
run() {
	local status
	(
		ulimit -v 3000000
		exec timeout -s KILL 10 "$LEDG" "$@"
	) >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	if grep -q '^goroutine \|^fatal error\|^panic' "$dir/err"; then
		lose "ledg $* ends with a stack trace: $(head -n 1 "$dir/err")"
	elif [ $status -gt 3 ]; then
		lose "ledg $* ends with status $status"
	elif [ $status != 0 ] && { [ "$(wc -l <"$dir/err")" != 1 ] || [ "$(wc -c <"$dir/err")" -gt 3000 ]; }; then
		lose "ledg $* says $(wc -l <"$dir/err") lines, $(wc -c <"$dir/err") bytes: $(head -c 300 "$dir/err")"
	fi
	return $status
}

# mutate changes, cuts or repeats some bytes of a file.
mutate() {
	local size k
	size=$(wc -c <"$1")
	for ((k = 0; k < 1 + RANDOM % 3 && size > 0; k++)); do
		case $((RANDOM % 5)) in
		0) truncate -s "$(random "$size")" "$1" ;;
		1) head -c $((1 + RANDOM % 8)) /dev/zero | tr '\0' '\377' | dd of="$1" bs=1 seek="$(random "$size")" conv=notrunc status=none ;;
		*) printf "\\$(printf %03o $((RANDOM % 256)))" | dd of="$1" bs=1 seek="$(random "$size")" conv=notrunc status=none ;;
		esac
		size=$(wc -c <"$1")
	done
}

root=$dir/photos
pictures "$root" 40
data=(--dataset folder --root "$root")
seed=$dir/seed
mkdir -p "$seed/runs"
(cd "$root" && for f in */*/*.bmp; do echo "$f,cat"; done) | sed '1i id,label' >"$seed/labels.csv"
printf 'cat\ndog\n' >"$seed/classes.txt"
"$LEDG" label import "${data[@]}" --ledger "$seed/runs" --format csv "$seed/labels.csv" >/dev/null || exit 1
cp "$seed/runs/labels.jsonl" "$seed/labels.jsonl"
for format in labelstudio cvat fiftyone; do
	"$LEDG" label export "${data[@]}" --ledger "$seed/runs" --format $format --images all --out "$seed/$format" >"$dir/err" 2>&1 || { cat "$dir/err"; exit 1; }
done
"$LEDG" embed "${data[@]}" --net smallcnn --weights none --size 16 --width 8 --backend go --out "$seed/features.safetensors" >"$dir/err" 2>&1 || { cat "$dir/err"; exit 1; }
cp "$here/datasets/arrays/testdata/pandas.parquet" "$seed" 2>/dev/null
cp "$root/day/cat/0.bmp" "$seed/picture.bmp"

# tries prints how many of what were tried.
tries() { printf '%-8s %5d tried: %s\n' "$1" "$2" "$3"; }

deadline=$((SECONDS + (seconds + 3) / 4))
n=0
while [ $SECONDS -lt $deadline ]; do
	case $((n % 11)) in
	0) file=labels.csv args=(data check "${data[@]}" --labels) ;;
	1) file=classes.txt args=(data check "${data[@]}" --classes) ;;
	2) file=labels.csv args=(label import "${data[@]}" --ledger "$dir/ledger" --format csv) ;;
	3) file=labelstudio/tasks-0001.json args=(label import "${data[@]}" --ledger "$dir/ledger" --format labelstudio) ;;
	4) file=cvat/annotations.zip args=(label import "${data[@]}" --ledger "$dir/ledger" --format cvat) ;;
	5 | 7 | 8) file=labels.jsonl args=(label agreement) ;;
	9) file=pandas.parquet args=(query -n 2 --strategy kmeans --pool) ;;
	10) file=features.safetensors args=(query -n 2 --strategy kmeans --pool) ;;
	6) file=picture.bmp args=(data check --dataset folder --root) ;;
	esac
	n=$((n + 1))
	[ -e "$seed/$file" ] || continue
	rm -rf "$dir/hurt" "$dir/ledger"
	mkdir -p "$dir/hurt/day/cat" "$dir/ledger"
	hurt=$dir/hurt/$(basename "$file")
	[ "$file" = picture.bmp ] && hurt=$dir/hurt/day/cat/0.bmp
	cp "$seed/$file" "$hurt"
	mutate "$hurt"
	cp "$hurt" "$dir/before"
	case $file in
	labels.jsonl | picture.bmp) run "${args[@]}" "$dir/hurt" ;;
	*) run "${args[@]}" "$hurt" ;;
	esac
	cmp -s "$hurt" "$dir/before" || lose "ledg ${args[*]} changed $file"
	if [ "$file" = labels.jsonl ]; then # and as a ledger that is written to
		run label import "${data[@]}" --ledger "$dir/hurt" --format csv "$seed/labels.csv"
		# What the import appends follows what was there; what it cuts off is kept.
		cut=$(find "$dir/hurt" -name 'labels.jsonl.cut-*')
		long=$(cat /dev/null $cut | wc -c)
		size=$(wc -c <"$dir/before")
		cmp -s <(head -c $((size - long)) "$hurt") <(head -c $((size - long)) "$dir/before") &&
			cmp -s <(cat /dev/null $cut) <(tail -c "$long" "$dir/before") ||
			lose "an import into a damaged ledger of $size bytes has changed it, and kept $long"
	fi
done
tries mutate $n "files with changed bytes"

# answers writes a CSV with an answer of a new annotator for all images, and prints the name.
answers() {
	(cd "$root" && for f in */*/*.bmp; do echo "$f,dog,by$1"; done) | sed '1i id,label,annotator' >"$dir/a$1.csv"
}

# check looks for the acknowledged annotators in a ledger.
check() {
	local by
	"$LEDG" label agreement "$1" >"$dir/out" 2>"$dir/err" || lose "$2: the ledger cannot be read: $(cat "$dir/err")"
	for by in $acknowledged; do
		[ "$(grep -c "\"by\":\"by$by\"" "$1/labels.jsonl")" = 40 ] || lose "$2: answers of by$by were acknowledged and are not there"
	done
}

deadline=$((SECONDS + (seconds + 3) / 4))
n=0 acknowledged= killed=0
mkdir -p "$dir/kills"
while [ $SECONDS -lt $deadline ]; do
	answers $n
	: >"$dir/said" # not that of the one before, if it is killed before it begins
	"$LEDG" label import "${data[@]}" --ledger "$dir/kills" --format csv "$dir/a$n.csv" >"$dir/said" 2>/dev/null &
	pid=$!
	sleep 0.0$((RANDOM % 90 + 10))
	kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
	wait $pid 2>/dev/null
	grep -q '40 of them new' "$dir/said" && acknowledged="$acknowledged $n"
	n=$((n + 1))
done
check "$dir/kills" kill
tries kill $n "imports, $killed of them killed, $(wc -w <<<"$acknowledged") acknowledged"

deadline=$((SECONDS + (seconds + 3) / 4))
n=0 acknowledged=
full=$dir/full
mkdir -p "$full"
how="a tmpfs of 64 KB"
mount -t tmpfs -o size=64k tmpfs "$full" 2>/dev/null || how="files of up to 64 KB"
while [ $SECONDS -lt $deadline ] && [ $n -lt 30 ]; do
	answers $n
	(
		[ "$how" = "a tmpfs of 64 KB" ] || ulimit -f 64
		exec timeout -s KILL 10 "$LEDG" label import "${data[@]}" --ledger "$full" --format csv "$dir/a$n.csv"
	) >"$dir/said" 2>"$dir/err"
	grep -q '40 of them new' "$dir/said" && acknowledged="$acknowledged $n"
	grep -q '^goroutine ' "$dir/err" && lose "a full disk gives a stack trace"
	n=$((n + 1))
done
check "$full" fill
tries fill $n "imports on $how, $(wc -w <<<"$acknowledged") acknowledged"
umount "$full" 2>/dev/null

train=(train --dataset glyphs --target photo --method uniform --budget 60 --epochs 2 --seed 1 --backend go)
"$LEDG" "${train[@]}" --out "$dir/whole" >/dev/null 2>"$dir/err" || { cat "$dir/err"; lose "a training fails"; }
n=0 deadline=$((SECONDS + (seconds + 3) / 4)) resume=
while :; do
	"$LEDG" "${train[@]}" $resume --out "$dir/killed" >/dev/null 2>"$dir/err" &
	pid=$!
	if [ $SECONDS -lt $deadline ]; then
		sleep "$((RANDOM % 3)).$((RANDOM % 10))"
		kill -KILL $pid 2>/dev/null && n=$((n + 1))
	fi
	wait $pid 2>/dev/null && break
	[ -e "$dir/killed/config.json" ] && resume=--resume
	if [ $SECONDS -gt $((deadline + 120)) ]; then
		lose "a training that was killed $n times does not end: $(tail -n 1 "$dir/err")"
		break
	fi
done
"$LEDG" eval --format csv "$dir/whole" >"$dir/want" 2>&1
"$LEDG" eval --format csv "$dir/killed" >"$dir/got" 2>&1
cmp -s <(sed "s#$dir/whole##;s/whole//" "$dir/want") <(sed "s#$dir/killed##;s/killed//" "$dir/got") || lose "a training that was killed $n times has other results: $(diff "$dir/want" "$dir/got" | head -n 4)"
tries train $n "kills of a training"

if [ "${NETS:-0}" -gt 0 ]; then
	(cd "$here" && LEDG_TEST_MUTATED=$NETS go test ./scripts/ledg -count 1 -timeout 2h -run TestMutatedNetworks) >"$dir/out" 2>&1 || lose "$(grep -m 4 'mutate_test.go' "$dir/out")"
	tries nets "$NETS" "changed networks on both engines, where ONNX Runtime is there, and in training"
fi

echo "$lost lost"
[ $lost = 0 ]
