#!/usr/bin/env bash
# Checks everything: formatting, vet, and all tests, with the race detector where
# it is affordable, which is in the packages that do not link the engine or draw. XLA is
# tested for real where its plugin for the CPU can be had: it is fetched once from
# PyPI, 63 MB, into the user's cache folder (ledg/xla). LEDG_TEST_XLA names a plugin
# instead, or is "off". So it is with ONNX Runtime, 28 MB (ledg/onnxruntime), and
# LEDG_TEST_ORT. Arguments are passed on to go test: ./scripts/test.sh -short
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "not formatted (run gofmt -w):" $unformatted >&2
	exit 1
fi

go vet ./...

# The packages with tests, by whether their tests link the engine.
tests=$(go list -test -f '{{.ImportPath}}{{range .Deps}} {{.}}{{end}}' ./... | grep '^[^ ]*[.]test ')
light=$(grep -v ' github.com/gomlx/' <<<"$tests" | cut -d' ' -f1 | sed 's/[.]test$//')
# Drawing starts no goroutine, and takes twenty times as long with the race detector.
plots=$(grep '/plots$' <<<"$light")
light=$(grep -v '/plots$' <<<"$light")
engine=$(grep ' github.com/gomlx/' <<<"$tests" | cut -d' ' -f1 | sed 's/[.]test$//' || true)

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
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/ledg/xla
	if said=$(go run ./scripts/ledg backend install cpu --yes --out "$folder" 2>&1); then
		LEDG_TEST_XLA=$folder/pjrt_c_api_cpu_plugin.so
	else
		LEDG_TEST_XLA='' no_xla=$(grep '^ledg: ' <<<"$said" || tail -n 1 <<<"$said")
	fi
fi
export LEDG_TEST_XLA
if [ "${LEDG_TEST_ORT:-}" = off ]; then
	LEDG_TEST_ORT=''
	echo "ONNX Runtime not tested: LEDG_TEST_ORT is off" >&2
elif [ -z "${LEDG_TEST_ORT:-}" ]; then
	folder=${XDG_CACHE_HOME:-$HOME/.cache}/ledg/onnxruntime
	if said=$(go run ./scripts/ledg backend install onnxruntime --yes --out "$folder" 2>&1); then
		LEDG_TEST_ORT=$(sed -n 's/^\(.*\) works: use it .*/\1/p' <<<"$said")
	else
		LEDG_TEST_ORT=''
		echo "ONNX Runtime not tested: $(tail -n 1 <<<"$said")" >&2
	fi
fi
export LEDG_TEST_ORT
[ -z "$no_xla" ] || echo "XLA not tested: $no_xla" >&2

status=0
go test $race -timeout 20m "$@" $light || status=1
go test -timeout 20m "$@" $plots || status=1
LEDG_TEST_PLATFORMS=1 go test -timeout 20m "$@" -run '^TestPlatforms$' ./scripts/release || status=1
if [ -n "$engine" ]; then
	go test -timeout 20m "$@" $engine || status=1
	if [ -n "$race" ]; then # one tiny run, where loader and engine meet
		go test $race -gcflags=github.com/gomlx/...=-d=checkptr=0 "$@" -run '^TestRunWithManyWorkers$' ./ceg || status=1
	fi
fi

# With LEDG_GPU_CHECK, as in continuous integration, the script for machines with a
# GPU, from the bundle that is sent there, does all but the GPU here: reference
# numbers in every lowering, and steps.
if [ -n "$LEDG_TEST_XLA" ] && [ -n "${LEDG_GPU_CHECK:-}" ]; then
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	scripts/gpu_check.sh --bundle "$scratch/check" >"$scratch/log" &&
		(cd "$scratch" && rm -rf check && tar -xzf check.tar.gz && env -i PATH="$PATH" HOME="$HOME" check/gpu_check.sh --backend "xla:$LEDG_TEST_XLA") ||
		status=1
fi
# With LEDG_ARM64_CHECK, as in continuous integration, what is for arm64 is run in qemu,
# where that is there.
if [ -n "${LEDG_ARM64_CHECK:-}" ]; then
	scripts/arm64.sh || status=1
fi
if [ -z "$no_xla" ]; then
	xla="with XLA ($LEDG_TEST_XLA)"
else
	xla="XLA not tested: $no_xla"
fi
[ $status = 0 ] && echo "all tests pass, $xla" || echo "some tests FAIL, $xla"
exit $status
