#!/usr/bin/env bash
# Checks ledg on a GPU with one command: that the XLA plugin works, that the
# networks and losses match their reference numbers on it, and how long a
# training step takes. Prints a short report; the status is 0 if all is well.
#
#   scripts/gpu_check.sh                   on a machine with Go and a C compiler
#   scripts/gpu_check.sh --bundle DIR      only builds, for a machine without them:
#   DIR/gpu_check.sh                       copy DIR (or DIR.tar.gz, which has it all)
#                                          there and run this
#
#   --backend SPEC   what to check (default xla:cuda; see ledg backend --help); go
#                    and a plugin for the CPU, as xla:/path/plugin.so, try the script
#                    itself where there is no GPU
#   --quick          no timing
#   --speed          timing alone
#   --compare        training steps beside PyTorch's, eager and compiled, in turns, for at
#                    most four minutes and three rounds; needs a Python with PyTorch
#                    (python3, or what TORCH_PYTHON names), and keeps compare.jsonl
#
#   --bundle DIR --study FILE --images FOLDER [--splits FOLDER] [--weights FILE] [--quality N]
#                    packs ledg, a study and its images alone, for DIR/gpu_check.sh --study;
#                    weights as the folder ledg/weights of the user's cache names them; JPEGs
#                    are encoded again with quality N (python3 with Pillow) to be smaller
#   --study          runs the study of the bundle, with accuracies hidden, for --minutes
#                    (default 9); the same again goes on. Runs are in --out (default ./records);
#                    ledg study collect makes records of them
#
# The plugin of a JAX installation is found in the active Python environment; for
# another one set VIRTUAL_ENV to its folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages="ceg/nets ceg/nets/native ceg/objective ceg/learner"
data="$packages ceg/objective/augment" # whose testdata the tests read
backend=xla:cuda bundle='' reference=1 speed=1 compare='' study='' images='' splits='' weights='' quality='' minutes=9 out=records
while [ $# -gt 0 ]; do
	case $1 in
	--backend) backend=${2:?--backend needs a value}; shift 2 ;;
	--bundle) bundle=${2:?--bundle needs a folder}; shift 2 ;;
	--quick) speed=''; shift ;;
	--speed) reference=''; shift ;;
	--compare) compare=1 reference='' speed=''; shift ;;
	--study) study=1; shift; case ${1:-} in '' | --*) ;; *) study=$1; shift ;; esac ;;
	--images) images=${2:?--images needs a folder}; shift 2 ;;
	--splits) splits=${2:?--splits needs a folder}; shift 2 ;;
	--weights) weights=${2:?--weights needs a file}; shift 2 ;;
	--quality) quality=${2:?--quality needs a number}; shift 2 ;;
	--minutes) minutes=${2:?--minutes needs a number}; shift 2 ;;
	--out) out=${2:?--out needs a folder}; shift 2 ;;
	-h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
	*) echo "gpu_check.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
	esac
done

# build DIR: the programs and the tests with their data, and this script.
build() (
	dir=$1
	cp "$here/gpu_check.sh" "$dir/"
	# shellcheck source=scripts/need-go.sh
	source "$here/need-go.sh"
	if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
		echo "gpu_check.sh: building XLA support needs a C compiler (CC=$(go env CC))" >&2
		exit 1
	fi
	go build -trimpath -ldflags='-s -w' -o "$dir/" ./scripts/ledg
	if [ -n "$study" ]; then
		cp "$study" "$dir/study.yaml"
		cp -R "$images" "$dir/images"
		chmod -R u+w "$dir/images"
		[ -z "$splits" ] || cp -R "$splits" "$dir/splits"
		[ -z "$weights" ] || install -D -m 644 -t "$dir/cache/ledg/weights" "$weights"
		[ -z "$quality" ] || find "$dir/images" -iname '*.jp*g' | python3 -c '
import sys
from PIL import Image
for path in sys.stdin.read().splitlines():
    with Image.open(path) as image:
        image.load()
    image.save(path, quality=int(sys.argv[1]), optimize=True, exif=image.getexif())' "$quality"
		return
	fi
	go build -C scripts/lab -trimpath -ldflags='-s -w' -o "$dir/" ./bench
	for p in $packages; do
		mkdir -p "$dir/tests/$p"
		go test -c -trimpath -ldflags='-s -w' -o "$dir/tests/$p/check.test" "./$p"
	done
	for p in $data; do
		mkdir -p "$dir/tests/$p"
		[ ! -d "$p/testdata" ] || cp -R "$p/testdata" "$dir/tests/$p/"
	done
	cp "$here"/lab/yardstick/{step,table}.py "$dir/"
)

if [ -n "$bundle" ]; then
	[ -z "$study" ] || { [ -f "$study" ] && [ -d "$images" ]; } || { echo "gpu_check.sh: --study '$study' is no file or --images '$images' no folder" >&2; exit 2; }
	[ -z "$study" ] || [ ! -e "$bundle/images" ] || { echo "gpu_check.sh: $bundle has images already: name a new folder" >&2; exit 2; }
	[ -z "$quality" ] || python3 -c 'import PIL' 2>/dev/null || { echo "gpu_check.sh: --quality needs a python3 with Pillow" >&2; exit 2; }
	mkdir -p "$bundle"
	bundle=$(cd "$bundle" && pwd)
	build "$bundle"
	tar -C "$(dirname "$bundle")" -czf "$bundle.tar.gz" "$(basename "$bundle")"
	echo "built $(du -sh "$bundle" | cut -f1) in $bundle, and the same in $bundle.tar.gz ($(du -sh "$bundle.tar.gz" | cut -f1))"
	echo "copy either to the GPU machine and run gpu_check.sh there"
	exit
fi

if [ -n "$study" ]; then
	[ "$study" = 1 ] || { echo "gpu_check.sh: --study FILE is for --bundle DIR; in the bundle --study runs its file" >&2; exit 2; }
	[ -f "$here/study.yaml" ] || { echo "gpu_check.sh: no study.yaml beside this script: --bundle DIR --study FILE --images FOLDER makes such a folder" >&2; exit 2; }
	dir=$here
	[ ! -d "$here/cache" ] || export XDG_CACHE_HOME=$here/cache
elif [ -x "$here/bench" ] && [ -d "$here/tests" ]; then
	dir=$here
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	build "$dir"
fi
scratch=$(mktemp -d)
log=$scratch/log
trap 'rm -rf "$scratch"; [ "$dir" = "$here" ] || rm -rf "$dir"' EXIT
status=0

# The machine.
if command -v nvidia-smi >/dev/null; then
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | sed 's/^/GPU       /'
else
	echo "GPU       no nvidia-smi on this machine"
fi

# The plugin. Opening it includes computing a convolution.
if GOMLX_BACKEND=$backend "$dir/ledg" backend list >"$log" 2>&1; then
	sed -n 's/^auto: backend /backend   ok: /p' "$log"
else
	sed 's/^/backend   FAILED: /' "$log"
	echo "backend   all that it said:"
	LEDG_PLUGIN_STDERR=1 GOMLX_BACKEND=$backend "$dir/ledg" backend list 2>&1 | sed 's/^/          /' || true
	"$dir/ledg" backend list | sed 's/^/          /'
	exit 1
fi

if [ -n "$study" ]; then
	arguments=(--dir "$out" --root "$(sed -n 's/^dataset: *//p' "$here/study.yaml")=$here/images" --backend "$backend" --hide-accuracy)
	[ ! -d "$here/splits" ] || arguments+=(--splits "$here/splits")
	timeout --signal=INT --kill-after=30 "${minutes}m" "$dir/ledg" study run "$here/study.yaml" "${arguments[@]}" || status=$?
	case $status in
	0) echo "all runs are finished" ;;
	124 | 137) "$dir/ledg" study status "$out"; echo "stopped after $minutes minutes: the same again goes on" ;;
	*) echo "something failed: $out has what is finished, and the same again tries the rest" ;;
	esac
	exit "$status"
fi

# The reference numbers are float32's. XLA takes minutes to compile networks for a CPU, which is for
# trying this script: a few networks and objectives are enough there.
exact=$backend some=.
case $backend in
xla:cpu* | *cpu*.so | go*) some='ResNet18|Vector|Normalise|FixMatch|RSC$|MixUp|Losses|OnTheDevice|Kernels|Depthwise|BFloat16' ;;
*) exact=${backend/,tf32=true/},tf32=false ;;
esac

# check PACKAGE: its tests on the backend; output goes to PACKAGE's log. Tests of objectives want
# the same weights when steps are repeated. XLA's first choice of a convolution's algorithm gives
# them, and the fastest may not.
check() (
	cd "$dir/tests/$1"
	case $backend,$1 in *cuda*,ceg/objective | *cuda*,ceg/learner) export XLA_FLAGS="${XLA_FLAGS:-} --xla_gpu_autotune_level=0" ;; esac
	LEDG_TEST_BACKEND=$exact ./check.test -test.v -test.run "$some" -test.timeout 40m >"$scratch/${1//\//-}.log" 2>&1
)

if [ -n "$reference" ]; then
	start=$SECONDS
	declare -A process
	for p in $packages; do
		check "$p" &
		process[$p]=$!
	done
	for p in $packages; do
		log=$scratch/${p//\//-}.log
		if ! wait "${process[$p]}"; then
			verdict=FAILED
		elif ! grep -q "backend ${backend%%[:,]*}" "$log"; then
			verdict='FAILED: no test used the backend'
		else
			verdict="ok: $(grep -c '^--- PASS' "$log") tests"
		fi
		echo "reference $p on $exact: $verdict, $((SECONDS - start)) s"
		case $verdict in
		FAILED*)
			status=1
			grep -B 5 -e '--- FAIL' "$log" | grep -v -e '^=== ' -e '--- PASS' | head -n 40 | sed 's/^/          /'
			;;
		esac
	done
fi

# field NAME: a number from the JSON object that a bench has printed.
field() { tail -n 1 "$scratch/bench.json" | sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p"; }

# gpu_memory prints the largest memory in use on a GPU, in MiB, that a file of
# nvidia-smi's samples holds.
gpu_memory() { sort -n "$1" 2>/dev/null | tail -n 1; }

# bench WORDS ARGUMENTS...: the speed of training steps.
bench() {
	local words=$1 sampler='' samples=$scratch/memory ran=''
	shift
	: >"$samples"
	if command -v nvidia-smi >/dev/null; then
		nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -lms 500 >"$samples" 2>/dev/null &
		sampler=$!
	fi
	"$dir/bench" --backend "$backend" "$@" >"$scratch/bench.json" 2>"$scratch/bench.log" && ran=1
	[ -z "$sampler" ] || kill "$sampler" 2>/dev/null || true
	if [ -z "$ran" ]; then
		status=1
		echo "speed     $words: FAILED: $(tail -n 1 "$scratch/bench.log")"
		return
	fi
	printf 'speed     %s: %.4f s a step, %.2f steps/s, %.0f images/s (%s forwards a step), compiled in %.1f s, peak memory %s bytes of host, %s MiB of GPU\n' "$words" \
		"$(field step_seconds_median)" "$(field steps_per_second)" "$(field images_per_second)" "$(field forwards_per_step)" \
		"$(field compile_seconds)" "$(field peak_memory_bytes)" "$(gpu_memory "$samples" | grep . || echo no)"
}
if [ -n "$speed" ]; then
	case $backend in
	go* | xla:cpu* | *cpu*.so*)
		bench "resnet18 width 16, 64 px" --net resnet18 --width 16 --size 64 --steps 2 --warmup 1
		bench "smallcnn 32 px" --steps 2 --warmup 1
		;;
	*)
		for precision in tf32 float32 bfloat16; do
			bench "resnet18 224 px, $precision" --net resnet18 --width 64 --size 224 --steps 20 --warmup 3 --precision $precision
		done
		bench "smallcnn 32 px, tf32" --steps 20
		;;
	esac
fi

# turn ENGINE NET ARGUMENTS... adds a measurement of one round to compare.jsonl, or says why not.
turn() {
	local engine=$1 net=$2 begin="{\"round\":$round,\"of\":\"$1 ${*:2}\"," tool=("$dir/bench" --backend "$backend" --precision "$precision")
	shift 2
	[ "$SECONDS" -lt "$until" ] || return 0
	if [ "$engine" != ledg ]; then
		tool=("$python" "$dir/step.py" --device "$device")
		[ "$precision" != bfloat16 ] || tool+=(--amp)
		[ "$engine" != compiled ] || tool+=(--compile)
	fi
	if timeout $((until - SECONDS + 20)) "${tool[@]}" --net "$net" "$@" >"$scratch/turn" 2>"$log"; then
		line=$(tail -n 1 "$scratch/turn")
		echo "$begin${line#\{}" >>compare.jsonl
	else
		status=1
		echo "compare   $engine $net $precision: FAILED: $(tail -n 1 "$log")"
	fi
}
if [ -n "$compare" ]; then
	python=${TORCH_PYTHON:-python3} until=$((SECONDS + 240)) device=cuda precisions='tf32 bfloat16' steps='--steps 10 --warmup 3'
	nets=('resnet18 --size 224' 'resnet50 --size 224' 'efficientnet-lite0 --size 224' 'smallcnn')
	case $backend in
	go* | xla:cpu* | *cpu*.so*) device=cpu precisions=float32 steps='--steps 2 --warmup 1' nets=('resnet18 --width 16 --size 32' 'smallcnn') ;;
	esac
	"$python" -c 'import torch' 2>"$log" || { echo "compare   FAILED: no PyTorch: $(tail -n 1 "$log"); TORCH_PYTHON names a Python that has it"; exit 1; }
	: >compare.jsonl
	for round in 1 2 3; do
		for net in "${nets[@]}"; do
			for precision in $precisions; do
				# shellcheck disable=SC2086 # words are arguments
				for engine in ledg pytorch compiled; do turn $engine $net $steps; done
			done
		done
	done
	"$python" "$dir/table.py" compare.jsonl
fi

[ $status = 0 ] && echo "all is well" || echo "something failed"
exit $status
