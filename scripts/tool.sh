#!/bin/sh
# Runs a compiler or linker for the go command: go build -toolexec=scripts/tool.sh.
#
# None collects garbage, which takes a sixth less time. Where a program uses C, the go command has
# the C compiler link it; Go's own linker takes a third less time. What that refuses, such as a
# library of C that a cell's module brings, the C compiler links, and then everything later in a
# kernel of the notebooks: LEDG_REFUSED names the file that says so. So does package pages, whose
# malloc the C library can only find in programs that the C compiler has linked.
export GOGC=off GOMEMLIMIT=1GiB
case "$1 $2" in
*/link\ -V=full) ;;
*/link\ -*)
	config=
	for a; do
		case $a in */importcfg.link) config=$a ;; esac
	done
	if [ -n "$config" ] && [ ! -e "${LEDG_REFUSED:-}" ] && [ "$(uname)" = Linux ] && ! grep -q /scripts/internal/pages= "$config"; then
		link=$1
		shift
		"$link" -linkmode=internal "$@" >/dev/null 2>&1 && exit
		"$link" "$@" || exit
		[ -z "${LEDG_REFUSED:-}" ] || : >"$LEDG_REFUSED"
		exit
	fi
	;;
esac
exec "$@"
