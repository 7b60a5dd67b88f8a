#!/usr/bin/env bash
# Checks everything: formatting, vet, and all tests, with the race detector where
# it is affordable, which is in the packages that do not link the engine.
# Arguments are passed on to go test: ./scripts/test.sh -short
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then
	echo "not formatted (run gofmt -w):" $unformatted >&2
	exit 1
fi

go vet ./...

packages=$(go list -f '{{.ImportPath}}{{range .Deps}} {{.}}{{end}}' ./...)
light=$(grep -v ' github.com/gomlx/' <<<"$packages" | cut -d' ' -f1)
engine=$(grep ' github.com/gomlx/' <<<"$packages" | cut -d' ' -f1 || true)

# Go 1.26's simd/archsimd loads the end of a slice through a pointer to a whole
# vector, masked; the pointer check that comes with -race takes it for an error.
race='-race -gcflags=github.com/ledg-go/ledg/...=-d=checkptr=0'
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	race=
	echo "tests run without the race detector: it needs cgo and a C compiler" >&2
fi

if ! jupyter nbconvert --version >/dev/null 2>&1; then
	echo "the notebooks are not executed: there is no Jupyter; scripts/notebooks.sh --install gets it" >&2
fi

status=0
go test $race "$@" $light || status=1
if [ -n "$engine" ]; then
	go test "$@" $engine || status=1
fi
exit $status
