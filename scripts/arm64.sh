#!/usr/bin/env bash
# Tries on x86-64 what is for arm64. The machine code of the vector kernels is read, and tests
# run in qemu (Debian: apt-get install qemu-user-static), which is no measure of speed:
#
#   scripts/arm64.sh         the kernels, the features of networks, images' augmentation, and a tiny run with the losses
#                            of x86-64 to within 1e-5 of each (ceg/testdata/README.md)
#   scripts/arm64.sh --all   all tests that need no cgo; those that start themselves need
#                            the kernel to know qemu (/proc/sys/fs/binfmt_misc/qemu-aarch64)
set -euo pipefail

all=
case "${1:-}" in
"") ;;
--all) all=1 ;;
*)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
	[ "$1" = --help ] || [ "$1" = -h ] || exit 2
	exit
	;;
esac
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

LEDG_TEST_ARM64=1 go test -run '^TestMachineCode$' ./ceg/internal/dot

export GOOS=linux GOARCH=arm64 GOEXPERIMENT=simd CGO_ENABLED=0
if [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ]; then
	emulated=()
elif qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64); then
	emulated=(-exec "$qemu")
else
	echo "nothing was run for arm64: there is no qemu-aarch64 (apt-get install qemu-user-static)" >&2
	exit
fi
if [ -n "$all" ]; then
	exec go test "${emulated[@]}" -timeout 60m ./...
fi
go test "${emulated[@]}" ./ceg/internal/... ./ceg/nets/direct ./ceg/objective/augment
go test "${emulated[@]}" -run '^TestMachines$' -v ./ceg | grep -v '^==='
