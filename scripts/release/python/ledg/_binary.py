"""Where the ledg binary is, and how it is run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path


class LedgError(Exception):
    """What ledg says is wrong, in one line."""


def find_binary() -> str:
    """The path of the ledg binary.

    Looked for are the file that the environment variable LEDG_BINARY names, the scripts
    folders in which pip puts it, and PATH. Raises LedgError if it is nowhere.
    """
    named = os.environ.get("LEDG_BINARY")
    if named:
        if not Path(named).is_file():
            raise LedgError(f"LEDG_BINARY is {named}, which is no file")
        return named
    name = "ledg.exe" if sys.platform == "win32" else "ledg"
    schemes = {sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")}
    folders = [sysconfig.get_path("scripts", scheme) for scheme in sorted(schemes)]
    here = Path(__file__).parent.parent
    folders += [str(here / "bin"), str(here.parent.parent.parent / "bin")]  # pip --target, --prefix
    for folder in folders:
        if (path := Path(folder) / name).is_file():
            return str(path)
    found = shutil.which(name)
    if found is None:
        raise LedgError(f"there is no {name} in {', '.join(folders)} or PATH: install ledg's wheel for this platform again")
    return found


def run(arguments: list[str], progress: bool = False) -> str:
    """Runs ledg and returns what it prints. Raises LedgError with its last line.

    progress shows what it says meanwhile, in a notebook below the cell. An interrupt is passed
    on, and ledg ends as by Ctrl-C.
    """
    binary = find_binary()
    try:
        process = subprocess.Popen([binary, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="surrogateescape")
    except OSError as e:
        raise LedgError(f"{binary} does not run on this machine: {e}") from e
    lines: list[str] = []

    def follow() -> None:
        for line in process.stderr:
            lines.append(line.rstrip())
            if progress:
                sys.stderr.write(line)

    reader = threading.Thread(target=follow)
    reader.start()
    try:
        printed = process.stdout.read()
        process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()
        process.stderr.close()
    if process.returncode:
        lines = [s for s in lines if s.strip()] or [f"ledg ended with status {process.returncode}"]
        raise LedgError(next((s for s in lines if s.startswith("ledg: ")), lines[-1]).removeprefix("ledg: "))
    return printed
