#!/usr/bin/env bash
# Makes a release in dist/: archives and Python wheels for Linux, macOS and Windows, the list
# of linked modules (CycloneDX), and SHA-256 sums. Nothing is uploaded; the commands for that
# are printed.
#
#   scripts/release.sh             the version of the tag at HEAD, such as v0.1.0
#   scripts/release.sh --snapshot  a version for trying, without a tag
#
# The files must be those of the commit. Two runs on one commit make the same bytes. For
# Linux there are two binaries: one that needs glibc (2.17, and 2.28 to load ONNX Runtime),
# and a static one for musl and empty containers, which loads no library. pip selects. The
# wheel and the archive for Linux on x86-64 have XLA if zig is there, which builds against
# glibc 2.17 (pip install ziglang==0.13.0, or zig in PATH); without it they compute in pure
# Go, as all others do, and this says so.
set -euo pipefail

snapshot=
case "${1:-}" in
"") ;;
--snapshot) snapshot=1 ;;
*)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
	[ "$1" = --help ] || [ "$1" = -h ] || exit 2
	exit
	;;
esac
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

if [ -n "$(git status --porcelain)" ]; then
	echo "release: files differ from the commit: commit or stash them first" >&2
	git status --short >&2
	exit 1
fi
commit=$(git rev-parse --short=12 HEAD)
if [ -n "$snapshot" ]; then
	last=$(git describe --tags --abbrev=0 --match 'v[0-9]*' 2>/dev/null || echo v0.0.0)
	version=${last#v}.dev$(git rev-list --count HEAD)+g$commit
else
	version=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null) || {
		echo "release: no tag like v0.1.0 at $commit: git tag -a v0.1.0, or --snapshot" >&2
		exit 1
	}
	version=${version#v}
	grep -q "^## $version " scripts/release/CHANGELOG.md || {
		echo "release: scripts/release/CHANGELOG.md has no section \"## $version (DATE)\"" >&2
		exit 1
	}
fi

zig=
if command -v zig >/dev/null; then
	zig=zig
elif python3 -c 'import ziglang' 2>/dev/null; then
	zig="python3 -m ziglang"
fi

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
for platform in linux/amd64 linux/arm64 linux/amd64/static linux/arm64/static darwin/arm64 darwin/amd64 windows/amd64 windows/arm64; do
	IFS=/ read -r os arch kind <<<"$platform"
	suffix=${kind:+_$kind} cgo=0 cc= tags=
	[ $os = windows ] && suffix=.exe
	[ $os$kind = linux ] && tags=onnxruntime
	if [ $platform = linux/amd64 ] && [ -n "$zig" ]; then
		tags= cgo=1 cc="$zig cc -target x86_64-linux-gnu.2.17"
	fi
	echo "building for $platform$([ $cgo = 1 ] && echo ', with XLA' || true)" >&2
	CC=$cc CGO_ENABLED=$cgo GOOS=$os GOARCH=$arch GOEXPERIMENT=simd \
		go build -trimpath -buildvcs=true -tags "$tags" -ldflags '-s -w -buildid=' -o "$built/ledg_${os}_$arch$suffix" ./scripts/ledg
done
[ -n "$zig" ] || echo "there is no zig: Linux on x86-64 is without XLA, too" >&2

rm -rf dist
python3 scripts/lab/release/release.py --version "$version" --binaries "$built" --time "$(git log -1 --format=%ct)"
ls -l dist >&2
[ -z "$snapshot" ] || exit 0
cat <<END

To publish:
    git push origin v$version
    gh release create v$version dist/* --title v$version --notes-file scripts/release/CHANGELOG.md
    python3 -m twine upload dist/*.whl
END
