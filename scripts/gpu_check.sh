#!/usr/bin/env bash
# Checks ledg on a GPU with one command: that the XLA plugin works, that the
# networks and losses match their reference numbers on it, and how long a
# training step takes. Prints a short report; the status is 0 if all is well.
#
#   scripts/gpu_check.sh                   on a machine with Go and a C compiler
#   scripts/gpu_check.sh --bundle DIR      only builds, for a machine without them:
#   DIR/gpu_check.sh                       copy DIR there and run this
#
#   --backend SPEC   what to check (default xla:cuda; see ledg backend --help)
#   --quick          no timing
#
# The plugin of a JAX installation is found in the active Python environment; for
# another one set VIRTUAL_ENV to its folder.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
packages="ceg/nets ceg/learner"
backend=xla:cuda bundle='' quick=''
while [ $# -gt 0 ]; do
	case $1 in
	--backend) backend=${2:?--backend needs a value}; shift 2 ;;
	--bundle) bundle=${2:?--bundle needs a folder}; shift 2 ;;
	--quick) quick=1; shift ;;
	-h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
	*) echo "gpu_check.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
	esac
done

# build DIR: the program and the tests with their data, and this script.
build() (
	dir=$1
	source "$here/need-go.sh"
	if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
		echo "gpu_check.sh: building XLA support needs a C compiler (CC=$(go env CC))" >&2
		exit 1
	fi
	go build -trimpath -ldflags='-s -w' -o "$dir/ledg" ./scripts/ledg
	for p in $packages; do
		mkdir -p "$dir/tests/$p"
		go test -c -trimpath -ldflags='-s -w' -o "$dir/tests/$p/check.test" "./$p"
		[ ! -d "$p/testdata" ] || cp -R "$p/testdata" "$dir/tests/$p/"
	done
	cp "$here/gpu_check.sh" "$dir/"
)

if [ -n "$bundle" ]; then
	mkdir -p "$bundle"
	bundle=$(cd "$bundle" && pwd)
	build "$bundle"
	echo "built $(du -sh "$bundle" | cut -f1) in $bundle: copy it to the GPU machine and run gpu_check.sh there"
	exit
fi

if [ -x "$here/ledg" ] && [ -d "$here/tests" ]; then
	dir=$here
else
	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	build "$dir"
fi
log=$(mktemp)
trap 'rm -f "$log"; [ "$dir" = "$here" ] || rm -rf "$dir"' EXIT
status=0

# The machine.
if command -v nvidia-smi >/dev/null; then
	nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader | sed 's/^/GPU       /'
else
	echo "GPU       no nvidia-smi on this machine"
fi

# The plugin. Opening it includes computing a convolution.
if GOMLX_BACKEND=$backend "$dir/ledg" backend list >"$log" 2>&1; then
	sed -n 's/^auto: backend /plugin    ok: /p' "$log"
else
	sed 's/^/plugin    FAILED: /' "$log"
	"$dir/ledg" backend list | sed 's/^/          /'
	exit 1
fi

# The reference numbers are float32's.
exact=$backend
case $backend in
*cuda*tf32* | *cpu*) ;;
*) exact=$backend,tf32=false ;;
esac
for p in $packages; do
	start=$SECONDS
	if ! (cd "$dir/tests/$p" && LEDG_TEST_BACKEND=$exact ./check.test -test.v -test.timeout 15m) >"$log" 2>&1; then
		verdict=FAILED
	elif ! grep -q 'backend xla' "$log"; then
		verdict='FAILED: no test used the backend'
	else
		verdict="ok: $(grep -c '^--- PASS' "$log") tests"
	fi
	echo "reference $p on $exact: $verdict, $((SECONDS - start)) s"
	case $verdict in
	FAILED*)
		status=1
		grep -v '^=== ' "$log" | tail -n 20 | sed 's/^/          /'
		;;
	esac
done

# field NAME: a number from the JSON object in the log's last line.
field() { tail -n 1 "$log" | sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p"; }

# bench WORDS ARGUMENTS...: one line on the speed of training steps.
bench() {
	local words=$1
	shift
	if "$dir/ledg" bench --json "$@" >"$log" 2>&1; then
		printf 'speed     %s: %s s a step, %s steps/s, %s images/s, compiled in %s s, peak host memory %s bytes\n' "$words" \
			"$(field step_seconds_median)" "$(field steps_per_second)" "$(field images_per_second)" \
			"$(field compile_seconds)" "$(field peak_memory_bytes)"
	else
		status=1
		echo "speed     $words: FAILED: $(tail -n 1 "$log")"
	fi
}
if [ -z "$quick" ]; then
	bench "resnet18 224 px, as opened" --net resnet18 --width 64 --size 224 --backend "$backend"
	[ "$exact" = "$backend" ] ||
		bench "resnet18 224 px, float32 without TF32" --net resnet18 --width 64 --size 224 --backend "$exact"
	bench "smallcnn 32 px, as opened" --net smallcnn --width 64 --size 32 --backend "$backend"
fi

[ $status = 0 ] && echo "all is well" || echo "something failed"
exit $status
