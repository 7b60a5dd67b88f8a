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
#
# The plugin of a JAX installation is found in the active Python environment; for
# another one set VIRTUAL_ENV to its folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages="ceg/nets ceg/nets/native ceg/objective ceg/learner"
data="$packages ceg/objective/augment" # whose testdata the tests read
backend=xla:cuda bundle='' reference=1 speed=1
while [ $# -gt 0 ]; do
	case $1 in
	--backend) backend=${2:?--backend needs a value}; shift 2 ;;
	--bundle) bundle=${2:?--bundle needs a folder}; shift 2 ;;
	--quick) speed=''; shift ;;
	--speed) reference=''; shift ;;
	-h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
	*) echo "gpu_check.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
	esac
done

# build DIR: the programs and the tests with their data, and this script.
build() (
	dir=$1
	# shellcheck source=scripts/need-go.sh
	source "$here/need-go.sh"
	if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
		echo "gpu_check.sh: building XLA support needs a C compiler (CC=$(go env CC))" >&2
		exit 1
	fi
	go build -trimpath -ldflags='-s -w' -o "$dir/" ./scripts/ledg
	go build -C scripts/lab -trimpath -ldflags='-s -w' -o "$dir/" ./bench
	for p in $packages; do
		mkdir -p "$dir/tests/$p"
		go test -c -trimpath -ldflags='-s -w' -o "$dir/tests/$p/check.test" "./$p"
	done
	for p in $data; do
		mkdir -p "$dir/tests/$p"
		[ ! -d "$p/testdata" ] || cp -R "$p/testdata" "$dir/tests/$p/"
	done
	cp "$here/gpu_check.sh" "$dir/"
)

if [ -n "$bundle" ]; then
	mkdir -p "$bundle"
	bundle=$(cd "$bundle" && pwd)
	build "$bundle"
	tar -C "$(dirname "$bundle")" -czf "$bundle.tar.gz" "$(basename "$bundle")"
	echo "built $(du -sh "$bundle" | cut -f1) in $bundle, and the same in $bundle.tar.gz ($(du -sh "$bundle.tar.gz" | cut -f1))"
	echo "copy either to the GPU machine and run gpu_check.sh there"
	exit
fi

if [ -x "$here/bench" ] && [ -d "$here/tests" ]; then
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
	case $backend,$1 in *cuda*,ceg/objective) export XLA_FLAGS="${XLA_FLAGS:-} --xla_gpu_autotune_level=0" ;; esac
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

[ $status = 0 ] && echo "all is well" || echo "something failed"
exit $status
