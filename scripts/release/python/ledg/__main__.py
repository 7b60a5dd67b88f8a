"""``python -m ledg`` is ``ledg``."""

import os
import subprocess
import sys

from ._binary import LedgError, find_binary


def main() -> int:
    try:
        binary = find_binary()
        if sys.platform == "win32":  # which has no exec
            return subprocess.run([binary, *sys.argv[1:]]).returncode
        os.execv(binary, [binary, *sys.argv[1:]])
    except (LedgError, OSError) as e:
        print(f"ledg: {e}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
