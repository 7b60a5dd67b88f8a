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
#   shard   changes bytes of shards, renumbers and repeats them, and merges them: the result
#           is as with unchanged shards, or one line; no shard changes
#   webhook sends changed requests to the backend of Label Studio: it answers each, goes on,
#           and has every label that it acknowledged
#   hub     lets a model hub lie about names, sizes and commits: nothing is written outside
#           of the cache (it needs Go)
#   nets    changes numbers, operations and names in ONNX files, and computes and trains
#           them: each call ends within 10 seconds and 2 GB, with features or one line.
#           NETS says how many (default 0, as each takes half a second; it needs Go)
#
# Usage: scripts/ledg/testdata/torture.sh [SECONDS] (default 60; a quarter of them for each of the first
# four, a tenth for shard and webhook; train ends its run). LEDG names the program
# (default: one that is built here), SEED makes the
# random choices repeatable. The exit status is 1 if anything was lost.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
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
	elif [ $status != 0 ] && { [ "$(grep -vc '^[^:]*: images from ' "$dir/err")" != 1 ] || [ "$(wc -c <"$dir/err")" -gt 3000 ]; }; then
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
for format in labelstudio cvat; do
	"$LEDG" label export "${data[@]}" --ledger "$seed/runs" --format $format --which all --out "$seed/$format" >"$dir/err" 2>&1 || { cat "$dir/err"; exit 1; }
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
	[ -n "$acknowledged" ] || [ -e "$1/labels.jsonl" ] || return 0 # killed before there was one
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

# shards merges the shards in $dir/shards; some were changed.
(cd "$dir" && for i in 0 1; do
	"$LEDG" embed "${data[@]}" --net smallcnn --weights none --size 16 --width 8 --backend go --shard $i/2 --out part.safetensors || exit 1
done) >"$dir/err" 2>&1 || { cat "$dir/err"; exit 1; }
"$LEDG" merge "$dir/honest.safetensors" "$dir"/part.safetensors.?-of-2 >/dev/null || exit 1
deadline=$((SECONDS + (seconds + 9) / 10))
n=0 merged=0
while [ $SECONDS -lt $deadline ]; do
	rm -rf "$dir/shards" "$dir/before.d"
	mkdir "$dir/shards"
	cp "$dir"/part.safetensors.?-of-2 "$dir/shards"
	a=$dir/shards/part.safetensors.0-of-2 b=$dir/shards/part.safetensors.1-of-2 out=$dir/shards/out.safetensors
	case $((n % 6)) in
	0) cp "$a" "$b" ;;                            # one shard under both numbers
	1) sed -i 's#"shard":"0/2"#"shard":"1/2"#' "$a" && sed -i 's#"shard":"1/2"#"shard":"0/2"#' "$b" ;; # renumbered
	2) out=$b ;;                                  # over one of them
	3) mutate "$a" ;;
	4) mutate "$b" ;;
	5) mutate "$a" && mutate "$b" ;;
	esac
	cp -r "$dir/shards" "$dir/before.d"
	if run merge "$out" "$a" "$b"; then
		merged=$((merged + 1))
		cmp -s "$out" "$dir/honest.safetensors" || lose "ledg merge takes changed shards (way $((n % 6)))"
		rm -f "$out"
	fi
	diff -r "$dir/shards" "$dir/before.d" >/dev/null || lose "ledg merge leaves or changes files (way $((n % 6))): $(diff -rq "$dir/shards" "$dir/before.d")"
	n=$((n + 1))
done
tries shard $n "pairs of changed shards, $merged of them merged"

# post sends the file $2 to the path $1 of the backend, and prints the status of the answer.
post() {
	local place line
	place=${address#http://}
	exec 3<>"/dev/tcp/${place%%:*}/$(cut -d: -f2 <<<"$place" | cut -d/ -f1)" || return
	{
		printf 'POST /%s/%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n' \
			"$(cut -d/ -f2 <<<"$place")" "$1" "${place%%/*}" "$(wc -c <"$2")"
		cat "$2"
	} >&3 2>/dev/null
	read -r -t 60 line <&3
	exec 3>&-
	cut -d' ' -f2 <<<"$line"
}

for domain in day night; do
	mkdir -p "$dir/flat/$domain" && cp "$root/$domain"/*/*.bmp "$dir/flat/$domain"
done
"$LEDG" train --dataset folder --root "$dir/flat" --classes cat,dog --target none --oracle ask --timing early --budget 12 --epochs 2 --width 4 --image-size 16 \
	--backend go --cache "$dir/cache" --quiet --out "$dir/studio" >/dev/null 2>"$dir/err"
[ $? = 3 ] || { cat "$dir/err"; lose "a run that queries people does not wait"; }
config='<View><Image name=\"photo\" value=\"$file\"/><Choices name=\"animal\" toName=\"photo\"><Choice value=\"cat\"/><Choice value=\"dog\"/></Choices></View>'
project='"project":{"id":1,"created_at":"2026-01-01T00:00:00Z","label_config":"'$config'"}'
mapfile -t files < <(cd "$dir/flat" && ls */*.bmp)
(ulimit -v 3000000; exec "$LEDG" label studio "$dir/studio" --backend go --cache "$dir/cache") >"$dir/said" 2>"$dir/log" &
pid=$! address=
disown # bash says nothing when it is killed
for ((k = 0; k < 100; k++)); do
	address=$(head -n 1 "$dir/said") && [ -n "$address" ] && break
	sleep 0.1
done
[ -n "$address" ] || lose "the backend of Label Studio does not start: $(tail -n 1 "$dir/log")"
deadline=$((SECONDS + (seconds + 9) / 10))
n=0 answered=0 acknowledged=
while [ -n "$address" ] && [ $SECONDS -lt $deadline ]; do
	file=${files[$((n % ${#files[@]}))]}
	task='{"id":'$n',"data":{"file":"/data/local-files/?d=flat/'$file'"}}'
	case $((n % 4)) in
	0) path=setup && echo '{"project":"1.0","schema":"'$config'","hostname":"http://169.254.169.254","access_token":"x"}' ;;
	1) path=predict && echo '{"tasks":['$task',{"id":9,"data":{"file":"http://169.254.169.254/x"}}],'$project',"label_config":"'$config'"}' ;;
	*) path=webhook && echo '{"action":"ANNOTATION_CREATED",'$project',"task":'$task',"annotation":{"id":'$n',"task":'$n',"completed_by":1,"updated_at":"2026-01-02T00:00:00Z","result":[{"from_name":"animal","to_name":"photo","type":"choices","value":{"choices":["cat"]}}]}}' ;;
	esac >"$dir/body"
	[ $((n % 4)) = 3 ] || mutate "$dir/body"
	status=$(post $path "$dir/body")
	case "$status" in
	200) answered=$((answered + 1)) ;;
	400 | 413 | 422) ;;
	*) lose "the backend of Label Studio answers a changed $path with status '$status'" ;;
	esac
	[ $((n % 4)) != 3 ] || [ "$status" != 200 ] || acknowledged="$acknowledged $file"
	n=$((n + 1))
	kill -0 $pid 2>/dev/null || { lose "the backend of Label Studio has ended: $(tail -n 1 "$dir/log")"; break; }
done
kill -KILL $pid 2>/dev/null
grep -q '^goroutine \|^fatal error\|^panic' "$dir/log" && lose "the backend of Label Studio prints a stack trace: $(grep -m 1 '^panic\|^fatal' "$dir/log")"
for file in $acknowledged; do
	grep -qF "\"$file\"" "$dir/studio/labels.jsonl" || lose "the label of $file was acknowledged and is not there"
done
[ "$n" -lt 8 ] || [ -n "$acknowledged" ] || lose "the backend of Label Studio acknowledges no label: $(tail -n 1 "$dir/log")"
tries webhook $n "requests, $answered of them accepted, $(wc -w <<<"$acknowledged") labels acknowledged"

if command -v go >/dev/null; then
	(cd "$here" && go test ./ceg/nets/weights/hub -v -count 1 -run 'TestLies|TestRedirectInside|FuzzDownload') >"$dir/out" 2>&1 ||
		lose "a hub that lies: $(grep -m 4 '_test.go\|^FAIL' "$dir/out")"
	tries hub "$(grep -c '^    --- PASS' "$dir/out")" "answers of a hub that lies (go test -fuzz FuzzDownload tries more)"
fi

if [ "${NETS:-0}" -gt 0 ]; then
	(cd "$here" && LEDG_TEST_MUTATED=$NETS go test ./scripts/ledg -count 1 -timeout 2h -run TestMutatedNetworks) >"$dir/out" 2>&1 || lose "$(grep -m 4 'mutate_test.go' "$dir/out")"
	tries nets "$NETS" "changed networks on both engines, where ONNX Runtime is there, and in training"
fi

echo "$lost lost"
[ $lost = 0 ]
