# Sourced by the scripts beside it: goes to the repository's root and makes sure
# that Go is there and new enough. What is missing is said in one line.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

if ! command -v go >/dev/null; then
	echo "ledg needs Go $(sed -n 's/^go //p' go.mod) or newer: there is no go in PATH (https://go.dev/dl)" >&2
	exit 1
fi

# An older go fetches the version that go.mod wants by itself, if it may.
if ! GOEXPERIMENT='' go list -m >/dev/null 2>&1; then
	echo "ledg needs Go $(sed -n 's/^go //p' go.mod) or newer: this is $(cd / && GOEXPERIMENT='' GOTOOLCHAIN=local go env GOVERSION) (https://go.dev/dl)" >&2
	exit 1
fi

# The matrix products of the Go backend need it to be fast.
export GOEXPERIMENT=simd

# Without a git that trusts this folder, go build cannot stamp the revision.
git rev-parse HEAD >/dev/null 2>&1 || export GOFLAGS="${GOFLAGS:-} -buildvcs=false"
