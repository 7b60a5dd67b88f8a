#!/usr/bin/env bash
# Checks formatting and runs the tests of every package; of the module scripts/lab with --all.
#
#   scripts/test.sh          what a change needs: some minutes on two cores, most of them compiling
#   scripts/test.sh --all    everything, as continuous integration does: also go vet, staticcheck,
#                            the race detector, other platforms, XLA, and what needs Jupyter, Slurm,
#                            a browser, qemu or minutes
#
# Other arguments are passed on to go test: scripts/test.sh -short
#
# --all fetches XLA's plugin for the CPU, 63 MB (scripts/xla_plugin.sh), and ONNX Runtime, 27 MB,
# from PyPI into the user's cache folder (ledg/xla, ledg/onnxruntime). Without --all, ONNX Runtime is tested where it
# is in that folder. LEDG_TEST_XLA and LEDG_TEST_ORT name a library instead, or are "off".
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

all=
if [ "${1:-}" = --all ]; then
	all=1
	export LEDG_TEST_ALL=1
	shift
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ledg

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "not formatted (run gofmt -w):" $unformatted >&2
	exit 1
fi

if [ "${LEDG_TEST_ORT:-}" = off ]; then
	LEDG_TEST_ORT=''
	echo "ONNX Runtime not tested: LEDG_TEST_ORT is off" >&2
elif [ -z "${LEDG_TEST_ORT:-}" ] && [ -n "$all" ]; then
	if said=$(go run ./scripts/ledg backend install onnxruntime --yes --out "$cache/onnxruntime" 2>&1); then
		LEDG_TEST_ORT=$(sed -n 's/^\(.*\) works: use it .*/\1/p' <<<"$said")
	else
		echo "ONNX Runtime not tested: $(tail -n 1 <<<"$said")" >&2
	fi
elif [ -z "${LEDG_TEST_ORT:-}" ]; then
	LEDG_TEST_ORT=$(ls "$cache"/onnxruntime/libonnxruntime.{so,dylib} 2>/dev/null | head -n 1 || true)
	[ -n "$LEDG_TEST_ORT" ] || echo "ONNX Runtime not tested: scripts/test.sh --all fetches it" >&2
fi
export LEDG_TEST_ORT=${LEDG_TEST_ORT:-}

if [ -z "$all" ]; then
	[ "${LEDG_TEST_XLA:-}" != off ] || LEDG_TEST_XLA=''
	export LEDG_TEST_XLA=${LEDG_TEST_XLA:-}
	export GOGC=${GOGC:-400} # the tests collect garbage less often, which takes a tenth off their time
	if go test -vet=off -timeout 20m "$@" ./...; then
		echo "all tests pass; scripts/test.sh --all runs the slow ones, too"
		exit
	fi
	echo "some tests FAIL"
	exit 1
fi

go vet ./...
go vet -C scripts/lab ./...
status=0

# staticcheck, at a version of its own that go.mod need not have.
if tools=$(mktemp -d) && GOBIN=$tools go install honnef.co/go/tools/cmd/staticcheck@v0.8.2; then
	"$tools/staticcheck" ./... || status=1
	(cd scripts/lab && "$tools/staticcheck" ./...) || status=1
else
	echo "staticcheck did not run: it cannot be fetched from the module proxy ($(go env GOPROXY))" >&2
fi
rm -rf "$tools"

# The packages with tests, by whether their tests link the engine.
tests=$(go list -test -f '{{.ImportPath}}{{range .Deps}} {{.}}{{end}}' ./... | grep '^[^ ]*[.]test ')
light=$(grep -v ' github.com/gomlx/' <<<"$tests" | cut -d' ' -f1 | sed 's/[.]test$//')
# Without the race detector: drawing, which starts no goroutine and takes twenty times as long
# with it, and child, whose limit of memory leaves the detector no room.
plain=$(grep -E '/plots$|/engine/child$' <<<"$light")
light=$(grep -vE '/plots$|/engine/child$' <<<"$light")
engine=$(grep ' github.com/gomlx/' <<<"$tests" | cut -d' ' -f1 | sed 's/[.]test$//')

# Go 1.27's simd/archsimd loads the end of a slice through a pointer to a whole
# vector, masked; the pointer check that comes with -race takes it for an error.
race='-race -gcflags=github.com/ledg-go/ledg/...=-d=checkptr=0'
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	race=
	echo "tests run without the race detector: it needs cgo and a C compiler" >&2
fi

if ! jupyter nbconvert --version >/dev/null 2>&1; then
	echo "the notebooks are not executed: there is no Jupyter; scripts/notebooks.sh --install gets it" >&2
fi

# The plugin for the CPU: LEDG_TEST_XLA is its file, or empty and no_xla says why.
no_xla=''
if [ "${LEDG_TEST_XLA:-}" = off ]; then
	LEDG_TEST_XLA='' no_xla="LEDG_TEST_XLA is off"
elif [ -z "${LEDG_TEST_XLA:-}" ]; then
	LEDG_TEST_XLA=$(scripts/xla_plugin.sh) || LEDG_TEST_XLA='' no_xla="scripts/xla_plugin.sh cannot fetch it"
fi
export LEDG_TEST_XLA
[ -z "$no_xla" ] || echo "XLA not tested: $no_xla" >&2

# The race detector is affordable in the packages that do not link the engine or draw.
go test -vet=off $race -timeout 20m "$@" $light || status=1
go test -vet=off -timeout 40m "$@" $plain $engine || status=1
go test -C scripts/lab -vet=off -timeout 40m "$@" ./... || status=1 # a module of its own
if [ -n "$race" ]; then # one tiny run, where loader and engine meet
	go test -vet=off $race -gcflags=github.com/gomlx/...=-d=checkptr=0 "$@" -run '^TestRunWithManyWorkers$' ./ceg || status=1
fi

# The script for machines with a GPU, from the bundle that is sent there, does all but the
# GPU here: reference numbers in every lowering, and steps.
if [ -n "$LEDG_TEST_XLA" ]; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	scripts/gpu_check.sh --bundle "$scratch/check" >"$scratch/log" &&
		(cd "$scratch" && rm -rf check && tar -xzf check.tar.gz && env -i PATH="$PATH" HOME="$HOME" check/gpu_check.sh --backend "xla:$LEDG_TEST_XLA") ||
		status=1
fi
# What is for arm64 is run in qemu, where that is there.
scripts/arm64.sh || status=1
if [ -z "$no_xla" ]; then
	xla="with XLA ($LEDG_TEST_XLA)"
else
	xla="XLA not tested: $no_xla"
fi
[ $status = 0 ] && echo "all tests pass, $xla" || echo "some tests FAIL, $xla"
exit $status
