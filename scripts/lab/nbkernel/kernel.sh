#!/usr/bin/env bash
# Starts the Go kernel of the notebooks, GoNB, at the version in the go.mod of scripts/lab. Cells are compiled with
# this repository's packages and the dependencies of its own go.mod. Jupyter runs it, as notebooks/jupyter
# says, and for a notebook in any folder as install.py beside it has written.
#
#   kernel.sh CONNECTION_FILE
#   kernel.sh --gopls            print where the server that completes and documents cells is installed
set -euo pipefail

# It is no tool of go.mod, whose dependencies it would upgrade.
server=${XDG_CACHE_HOME:-$HOME/.cache}/ledg/gopls@v0.24.0/gopls
if [ "$1" = --gopls ]; then
	echo "$server"
	exit
fi

lab=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
root=${lab%/scripts/lab}
tool() { go tool -C "$lab" -n "$1"; } # builds it, and prints its path

# GoNB looks for goimports and gopls in PATH. LEDG_GOPLS is empty where nobody types.
gonb=$(tool gonb)
PATH=$(dirname "$(tool goimports)"):$PATH
if [ -z "${LEDG_GOPLS+set}" ] && [ ! -x "$server" ]; then
	echo "cells are neither completed by Tab nor documented by Shift-Tab: with a network, scripts/notebooks.sh --install gets gopls" >&2
elif [ -n "${LEDG_GOPLS=$server}" ]; then
	export LEDG_GOPLS
	PATH=$(dirname "$(tool gopls)"):$PATH
fi

# Whatever cells may need is fetched now: see GOPROXY below. A workspace reads every go.mod of the module
# graph, a build only some.
go list -C "$root" -deps ./... >/dev/null
go mod -C "$root" graph >/dev/null

# Before every cell GoNB runs go get, which would ask the network for newer versions. Everything is there:
# without a proxy it does nothing.
export GOPROXY=off
# Without debugging information and symbols cells link in two thirds of the time. The last -toolexec counts.
GOFLAGS="$(go env GOFLAGS) -ldflags=-s '-toolexec=\"$root/scripts/toolexec.sh\"'"
export GOFLAGS LEDG_LINKER_REFUSED="$1.refused"
export LEDG_CHECKOUT="$root" # whose records notebooks elsewhere can show
# Runs of notebooks elsewhere are beside them, also for a cell that changes its working directory.
if [ -z "${LEDG_RUNS:-}" ] && [ "$PWD" != "$root/notebooks" ]; then
	export LEDG_RUNS="$PWD/runs"
fi
# The cells' module is in a workspace with ours; GoNB's log is in the temporary folder.
exec "$gonb" --kernel "$1" "-go_work=$root" -logtostderr=false -stderrthreshold=FATAL
