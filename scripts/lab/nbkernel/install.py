"""Makes the Go kernel of this checkout known to Jupyter, wherever it is started, and in VS Code, or takes it
away. Another's kernel of the same name stays.

    install.py
    install.py --uninstall
"""

import json
import os
import shutil
import subprocess
import sys

# What starts the kernel of the checkout $0. Programs with windows may have no Go in their PATH: its folder is $1.
STARTER = 'PATH="$PATH:$1" exec bash "$0/scripts/lab/nbkernel/kernel.sh" "$2"'

root = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
data = subprocess.run(["jupyter", "--data-dir"], check=True, capture_output=True, text=True).stdout.strip()
folders = [os.path.join(data, "kernels", name) for name in ("gonb", "ledg")]  # the notebooks' own name first


def ours(folder):
    """Whether the kernel in a folder is of this program."""
    try:
        with open(os.path.join(folder, "kernel.json"), encoding="utf-8") as f:
            return "nbkernel" in json.load(f)["argv"][2]
    except (OSError, ValueError, LookupError):
        return False


if sys.argv[1:] == ["--uninstall"]:
    for folder in filter(ours, folders):
        shutil.rmtree(folder)
        print("removed", folder)
    sys.exit()
env = {name: os.environ.get(name, "") for name in ("GOEXPERIMENT", "GOTOOLCHAIN", "GOFLAGS")}  # see scripts/need-go.sh
# A checkout of another version may not have the program of -toolexec; kernel.sh sets it.
env["GOFLAGS"] = env["GOFLAGS"].replace("'-toolexec=\"%s/scripts/toolexec.sh\"'" % root, "").strip()
kernel = {
    "argv": ["sh", "-c", STARTER, root, os.path.dirname(shutil.which("go")), "{connection_file}"],
    "display_name": "Go (ledg)", "language": "go", "interrupt_mode": "message", "env": {k: v for k, v in env.items() if v},
}
for folder in folders:
    if os.path.exists(os.path.join(folder, "kernel.json")) and not ours(folder):
        print(folder, "is another kernel, and stays: choose the kernel Go (ledg) for ledg's notebooks")
        continue
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as f:
        json.dump(kernel, f, indent=1)
    print("the kernel Go (ledg) is in", folder)
    break
else:
    sys.exit("%s are other kernels: jupyter kernelspec remove takes one away" % " and ".join(folders))
