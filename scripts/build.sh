#!/usr/bin/env bash
# Builds the command, bin/ledg.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/need-go.sh"
go build -o bin/ledg ./scripts/ledg
