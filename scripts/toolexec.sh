#!/bin/sh
# Runs a compiler or linker for the go command: go build -toolexec=scripts/toolexec.sh.
#
# No compiler or linker collects garbage, which takes a sixth less time. Where a program uses C,
# the go command has the C compiler link it; with Go's own linker a cell of a notebook is built in a
# fifth less time. Programs that Go's linker refuses, such as those with a static library of C, the
# C compiler links after all. A kernel of the notebooks then links all later cells so: the file that
# LEDG_LINKER_REFUSED names is the sign.
export GOGC=off GOMEMLIMIT=1GiB
case "$1 $2" in
*/link\ -V=full) ;;
*/link\ -*)
	if [ ! -e "${LEDG_LINKER_REFUSED:-}" ] && [ "$(uname)" = Linux ]; then
		link=$1
		shift
		"$link" -linkmode=internal "$@" >/dev/null 2>&1 && exit
		"$link" "$@" || exit
		[ -z "${LEDG_LINKER_REFUSED:-}" ] || : >"$LEDG_LINKER_REFUSED"
		exit
	fi
	;;
esac
exec "$@"
