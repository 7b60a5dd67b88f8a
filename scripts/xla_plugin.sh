#!/usr/bin/env bash
# Prints the path of XLA's plugin for the CPU that the tests use, and fetches it first: from a
# package on PyPI, pinned by its digest, as CI may not reach the source of go-xla's installer
# (ledg backend install cpu). Needs python3 with pip, on Linux.
set -euo pipefail
case $(uname -m) in
x86_64) package=lammps-jax-pjrt-cpu==0.11.2 member=lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so
	sha256=1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1
	plugin_sha256=ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2 ;;
aarch64) package=xla-cpu-pjrt==0.0.1 member=xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so
	sha256=8f613be6e891858f40d64f9799319502fff42689661944fc18a6ffd8210b30c9
	plugin_sha256=fcf411f3e8ff635c2b2cf87215aa7016f460e66d236c3db08309e7486583532d ;;
*) echo "there is no plugin for $(uname -m)" >&2; exit 1 ;;
esac
folder=${XDG_CACHE_HOME:-$HOME/.cache}/ledg/xla
plugin=$folder/pjrt_c_api_cpu_plugin.so
if ! echo "$plugin_sha256  $plugin" | sha256sum --check --status 2>/dev/null; then
	mkdir -p "$folder"
	scratch=$(mktemp -d "$folder/.fetching-XXXXXX")
	trap 'rm -rf "$scratch"' EXIT
	echo "$package --hash=sha256:$sha256" >"$scratch/requirements.txt"
	python3 -m pip install -q --disable-pip-version-check --root-user-action ignore --require-hashes --no-deps --target "$scratch/site" -r "$scratch/requirements.txt" >&2
	mv "$scratch/site/$member" "$plugin"
fi
echo "$plugin"
