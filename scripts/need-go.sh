# Sourced by the scripts beside it: goes to the repository's root and makes sure
# that Go is there and new enough. What is missing is said in one line.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

need_go=$(sed -n 's/^go //p' go.mod)
if ! command -v go >/dev/null; then
	echo "ledg needs Go $need_go, or an older one that can fetch it: there is no go in PATH (https://go.dev/dl)" >&2
	exit 1
fi

# An older Go fetches the version that go.mod wants from the module proxy, unless it
# is told not to, as in Go's container images: here it may.
have_go=$(cd / && GOEXPERIMENT='' GOTOOLCHAIN=local go env GOVERSION)
if [ "$(printf '%s\n' "$need_go" "${have_go#go}" | sort -V | head -n 1)" != "$need_go" ]; then
	export GOTOOLCHAIN="go$need_go"
	# Only a toolchain that is already there answers without the network.
	if ! GOPROXY=off GOEXPERIMENT='' go version >/dev/null 2>&1; then
		echo "this is $have_go: fetching Go $need_go from the module proxy ($(GOTOOLCHAIN=local go env GOPROXY))" >&2
		if ! why=$(GOEXPERIMENT='' go version 2>&1); then
			echo "ledg needs Go $need_go, this is $have_go, and the newer one cannot be fetched: ${why##*$'\n'}" >&2
			echo "install it from https://go.dev/dl, or let go reach a module proxy (GOPROXY)" >&2
			exit 1
		fi
	fi
fi

# The matrix products of the Go backend need it to be fast.
export GOEXPERIMENT=simd

# Without debugging information, compiling takes a seventh less time. The machine code is the same.
case " ${GOFLAGS:-}" in
*" -gcflags"*) ;;
*) export GOFLAGS="${GOFLAGS:-} -gcflags=all=-dwarf=false" ;;
esac

# With scripts/toolexec.sh compilers and linkers take less time.
case " ${GOFLAGS:-}" in
*-toolexec*) ;;
*) export GOFLAGS="${GOFLAGS:-} '-toolexec=\"$PWD/scripts/toolexec.sh\"'" ;;
esac

# Without a git that trusts this folder, go build cannot stamp the revision.
git rev-parse HEAD >/dev/null 2>&1 || export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
