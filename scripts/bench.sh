#!/usr/bin/env bash
# Measures how fast training steps are: ledg's engines and PyTorch take turns, each
# in a process of its own, and a table is written with medians, their spread, the
# machine and the versions. Nothing else should run meanwhile.
#
#   scripts/bench.sh                 the three networks of the README's table
#   scripts/bench.sh grid            smallcnn and ResNet-18, -34 and -50 at 32, 64, 128
#                                    and 224 pixels, and a narrow network, the slowest known
#                                    beside PyTorch; a round takes some 20 minutes on two cores
#   scripts/bench.sh features FILE.onnx ...
#                                    milliseconds an image of features by networks in ONNX
#                                    files at --size pixels, beside ONNX Runtime in Python
#   scripts/bench.sh lite            EfficientNet-Lite0 at 128 and 224 pixels; at 224 half as
#                                    many images, as PyTorch would need more than 20 GB
#
#   --engines LIST   engines, as ledg train --backend takes them, and pytorch
#                    (default: go, xla:cpu where its plugin works, and pytorch; for
#                    features also onnxruntime, and python in the place of pytorch)
#   --size N         pixels of images that features are computed of (default 224)
#   --precision P    numbers that are computed in, as ledg train --precision has them;
#                    bfloat16 is torch.autocast's in PyTorch, and not for go
#   --rounds N       measurements of each (default 5, of the grid 1)
#   --steps N        steps of one measurement (default 5 after a warm-up of 2; of the
#                    grid 2 after 1). The first step of the warm-up compiles.
#   --minutes N      begin no measurement after so many minutes
#   --out FOLDER     where speed.jsonl and speed.md go (default: the first
#                    free one of runs/bench, runs/bench-2, ...). What one that is there
#                    already has is not measured again: a killed bench goes on, and
#                    more --rounds add to it.
#
# PyTorch, or ONNX Runtime, comes from PyPI, into an environment of its own in the user's
# cache folder (ledg/pytorch, ledg/onnxruntime); TORCH_PYTHON names a Python that has it
# instead.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"

# The CPU's wheel is not on PyPI itself; PyPI's, which computes the same on a CPU,
# brings some 3 GB of NVIDIA's libraries.
torch=torch==2.15.0 torch_index=https://download.pytorch.org/whl/cpu

works='' engines='' rounds='' steps='' minutes='' out='' precision='' side=224 files=()
while [ $# -gt 0 ]; do
	case $1 in
	grid | lite | features) works=$1; shift ;;
	*.onnx) files+=("$1"); shift ;;
	--size) side=${2:?--size needs a number}; shift 2 ;;
	--precision) precision=${2:?--precision needs a name}; shift 2 ;;
	--engines) engines=${2:?--engines needs a list}; shift 2 ;;
	--rounds) rounds=${2:?--rounds needs a number}; shift 2 ;;
	--steps) steps=${2:?--steps needs a number}; shift 2 ;;
	--minutes) minutes=${2:?--minutes needs a number}; shift 2 ;;
	--out) out=${2:?--out needs a folder}; shift 2 ;;
	-h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' scripts/bench.sh; exit 0 ;;
	*) echo "bench.sh: unknown argument $1 (see --help)" >&2; exit 2 ;;
	esac
done
if [ "$works" = features ] && [ ${#files[@]} = 0 ]; then
	echo "bench.sh: features of which networks? Name files .onnx (see --help)" >&2
	exit 2
elif [ "$works" != features ] && [ ${#files[@]} -gt 0 ]; then
	echo "bench.sh: ${files[0]}: files .onnx are for features (see --help)" >&2
	exit 2
fi
warmup=2
if [ "$works" = grid ]; then
	warmup=1 rounds=${rounds:-1} steps=${steps:-2}
fi
rounds=${rounds:-5} steps=${steps:-5}

# What to measure: network, width, pixels, and images of a domain in a batch, of
# which the grid has fewer the larger they are: a step takes seconds at most.
rows() {
	local net size n work
	case $works in
	'')
		echo "smallcnn 64 32 16"
		echo "resnet18 16 64 16"
		echo "resnet18 64 64 16"
		;;
	grid)
		for work in "32 16" "64 8" "128 4" "224 2"; do
			for net in smallcnn resnet18 resnet34 resnet50; do
				echo "$net 64 $work"
			done
		done
		echo "resnet18 16 128 16"
		;;
	features)
		for net in "${files[@]}"; do echo "$net - $side -"; done
		;;
	lite)
		echo "efficientnet-lite0 32 128 16"
		echo "efficientnet-lite0 32 224 8"
		;;
	esac
}

if [ -z "$out" ]; then
	out=runs/bench
	for ((i = 2; ; i++)); do
		[ -e "$out" ] || break
		out=runs/bench-$i
	done
fi
mkdir -p "$out"
go build -o bin/ ./scripts/ledg
go build -C scripts/lab -o "$PWD/bin/" ./bench

yardstick=pytorch
if [ "$works" = features ]; then yardstick=python; fi
if [ -z "$engines" ]; then
	engines="go $yardstick"
	if [ "$works" = features ] && bin/ledg backend list | grep -q '^onnxruntime '; then
		engines="onnxruntime $engines"
	fi
	if GOMLX_BACKEND=xla:cpu bin/ledg backend list >/dev/null 2>&1; then
		engines="xla:cpu $engines"
	else
		echo "XLA is not measured: no plugin for the CPU works here (bin/ledg backend install cpu gets one)" >&2
	fi
fi
engines=${engines//,/ }

# python makes sure that there is a Python with a package from PyPI, and prints its name.
python() {
	local module=$1 package=$2 index=$3 folder=${XDG_CACHE_HOME:-$HOME/.cache}/ledg/$4
	local python=${TORCH_PYTHON:-}
	if [ -z "$python" ]; then
		python=$folder/bin/python
		if ! "$python" -c "import $module" 2>/dev/null; then
			echo "installing $package into $folder" >&2
			rm -rf "$folder"
			mkdir -p "$(dirname "$folder")"
			python3 -m venv "$folder" >&2 || return
			"$python" -m pip install --quiet ${index:+--index-url "$index"} "$package" numpy >&2 2>/dev/null ||
				"$python" -m pip install --quiet "$package" numpy >&2 || return
		fi
	fi
	"$python" -c "import $module" || return
	echo "$python"
}
case " $engines " in
*' pytorch '*)
	if ! python=$(python torch "$torch" "$torch_index" pytorch); then
		echo "PyTorch is not measured: it cannot be installed; TORCH_PYTHON names a Python that has it" >&2
		engines=${engines//pytorch/}
	fi
	;;
*' python '*)
	if ! python=$(python onnxruntime onnxruntime '' onnxruntime); then
		echo "ONNX Runtime in Python is not measured: it cannot be installed; TORCH_PYTHON names a Python that has it" >&2
		engines=${engines//python/}
	fi
	;;
esac

threads=${GOMAXPROCS:-$(nproc)}
# measure ENGINE NET WIDTH SIZE BATCH prints one line of JSON.
measure() {
	if [ "$works" = features ]; then
		case $1 in
		python) "$python" scripts/lab/yardstick/features.py --threads "$threads" --net "$2" --size "$4" ;;
		*) bin/bench features --backend "$1" --net "$2" --size "$4" ;;
		esac
		return
	fi
	local arguments=(--net "$2" --width "$3" --size "$4" --per-domain "$5" --steps "$steps" --warmup "$warmup")
	case $1 in
	pytorch)
		[ "$precision" != bfloat16 ] || arguments+=(--amp)
		"$python" scripts/lab/yardstick/step.py --threads "$threads" "${arguments[@]}"
		;;
	*) bin/bench --backend "$1" ${precision:+--precision "$precision"} "${arguments[@]}" ;;
	esac
}

# A process that was killed may have left a part of a line.
touch "$out/speed.jsonl"
[ -z "$(tail -c 1 "$out/speed.jsonl")" ] || sed -i '$d' "$out/speed.jsonl"
left=0
for ((round = 1; round <= rounds; round++)); do
	while read -r -a row <&3; do
		for engine in $engines; do
			begin="{\"round\":$round,\"of\":\"$engine ${row[*]}${precision:+ $precision}\","
			! grep -qF "$begin" "$out/speed.jsonl" || continue
			if [ -n "$minutes" ] && [ $SECONDS -ge $((60 * minutes)) ]; then
				left=$((left + 1))
				continue
			fi
			if measure "$engine" "${row[@]}" </dev/null >"$out/last" 2>"$out/last.log"; then
				line=$(tail -n 1 "$out/last")
				echo "$begin${line#\{}" >>"$out/speed.jsonl"
				seconds=$(sed -n 's/.*"step_seconds_median": *\([0-9.e-]*\).*/\1/p' "$out/last")
				echo "round $round, ${row[*]}, $engine: $seconds s a step" >&2
			else
				echo "round $round, ${row[*]}, $engine: FAILED: $(tail -n 1 "$out/last.log")" >&2
			fi
		done
	done 3< <(rows)
done
rm -f "$out/last" "$out/last.log"

python3 scripts/lab/yardstick/table.py "$out/speed.jsonl" | tee "$out/speed.md"
echo "kept in $out" >&2
[ $left = 0 ] || echo "$left measurements are left: the same with --out $out goes on" >&2
