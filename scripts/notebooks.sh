#!/usr/bin/env bash
# Opens the notebooks in Jupyter, with a Go kernel that compiles cells with this
# repository's packages. What is missing is installed first: Jupyter from the
# system's packages, unless there is one already, the kernel (GoNB, a Go tool of
# scripts/lab), and gopls for completion. Jupyter knows the kernel then in every
# folder, and so does VS Code: it is called Go (ledg).
#
#   scripts/notebooks.sh [ARGUMENT...]       open Jupyter; arguments are passed on,
#                                            such as --no-browser --port 8899
#   scripts/notebooks.sh --execute [NAME...] execute all notebooks in place, and draw the
#                                            figures of notebooks/results again; or those
#                                            whose names begin so: --execute 03 06
#   scripts/notebooks.sh --install           only install
#   scripts/notebooks.sh --uninstall         take away the kernel elsewhere, and gopls
#   scripts/notebooks.sh --help              say this
#
# Runs go to runs/notebooks, or to the folder in LEDG_RUNS; what is finished there is
# not done again. With LEDG_QUICK=1 all runs are tiny and learn nothing, for a look
# at the notebooks without the waiting.
set -euo pipefail

case "${1:-}" in
-h | --help)
	sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "${BASH_SOURCE[0]}"
	exit
	;;
esac

source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"
export JUPYTER_PATH="$PWD/notebooks/jupyter${JUPYTER_PATH:+:$JUPYTER_PATH}"
# The notebook in Python has the package and the command of this checkout.
export PYTHONPATH="$PWD/scripts/release/python${PYTHONPATH:+:$PYTHONPATH}" LEDG_BINARY="$PWD/bin/ledg"

gopls=$(scripts/lab/nbkernel/kernel.sh --gopls) # where it is, or will be

# has tells whether Jupyter has a subcommand that works.
has() { jupyter "$1" --version >/dev/null 2>&1; }

install() {
	local packages="jupyter-core jupyter-client jupyter-nbconvert python3-nbclient jupyter-notebook"
	if { has notebook || has lab; } && has nbconvert; then
		echo "Jupyter is here: $(command -v jupyter)"
	elif command -v apt-get >/dev/null; then
		local sudo=
		if [ "$(id -u)" != 0 ]; then
			sudo=sudo
			echo "installing system packages needs your password: $packages"
		fi
		echo "installing Jupyter (80 MB): $packages"
		$sudo apt-get update -qq
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >/dev/null
	else
		echo "there is no Jupyter and no apt-get here: install Jupyter Notebook and nbconvert, for instance with" >&2
		echo "    pipx install --include-deps notebook" >&2
		return 1
	fi
	echo "building the kernel, and what its cells link; the first time takes a few minutes"
	(cd scripts/lab && go tool -n gonb && go tool -n goimports && go tool -n gopls) >/dev/null # gopls: what stands before it
	go build ./notebooks/...
	go build -o "$LEDG_BINARY" ./scripts/ledg
	python3 scripts/lab/nbkernel/install.py
	if [ ! -x "$gopls" ]; then
		local version=${gopls%/gopls}
		version=${version##*@}
		echo "building gopls $version, which completes and documents cells; this takes a minute"
		(cd / && GOBIN=${gopls%/gopls} go install "golang.org/x/tools/gopls@$version") || # by its own go.mod
			echo "without gopls cells are neither completed by Tab nor documented by Shift-Tab" >&2
	fi
}

# figures drops the pages that a cell shows beside a figure. Where scripts do not run, as on GitHub, a page
# would hide the figure by a long table, and it is a megabyte. A cell that is executed shows it again.
figures() {
	python3 - "$1" <<-'END'
		import json, sys
		with open(sys.argv[1], encoding="utf-8") as f:
		    notebook = json.load(f)
		for cell in notebook["cells"]:
		    for output in cell.get("outputs", []):
		        if "image/png" in output.get("data", {}):
		            output["data"].pop("text/html", None)
		with open(sys.argv[1], "w", encoding="utf-8") as f:
		    f.write(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
	END
}

# execute executes the notebooks whose names begin with the arguments.
execute() {
	if [ -n "${LEDG_QUICK:-}" ]; then
		echo "LEDG_QUICK is set: the notebooks would show the results of tiny runs" >&2
		return 1
	fi
	if [ $# = 0 ]; then
		set -- ""
		scripts/figures.sh
	fi
	export LEDG_GOPLS= # nobody types
	local prefix file
	for prefix; do
		compgen -G "notebooks/$prefix*.ipynb" >/dev/null || {
			echo "no notebook begins with $prefix: there are $(cd notebooks && echo *.ipynb)" >&2
			return 1
		}
		for file in notebooks/"$prefix"*.ipynb; do
			jupyter nbconvert --to notebook --execute --inplace --ExecutePreprocessor.timeout=-1 \
				--ExecutePreprocessor.startup_timeout=300 --ExecutePreprocessor.record_timing=False "$file"
			figures "$file"
		done
	done
	go test ./notebooks -count=1 -run TestCommitted
}

if [ "${1:-}" = --uninstall ]; then
	python3 scripts/lab/nbkernel/install.py --uninstall
	rm -rf "${gopls%/gopls}"
	exit
fi
install
case "${1:-}" in
--install) ;;
--execute) execute "${@:2}" ;;
*)
	[ "$(id -u)" != 0 ] || set -- --allow-root "$@"
	if has notebook; then
		exec jupyter notebook "$@" notebooks
	fi
	exec jupyter lab "$@" notebooks
	;;
esac
