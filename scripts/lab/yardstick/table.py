"""Makes a Markdown table of the measurements that scripts/bench.sh has kept: table.py FILE.

There is a row for every network and size. Every engine has the seconds of a step, or the milliseconds of an image, the
largest memory and its speed over the yardstick's. Times and ratios are medians over the rounds with the lowest and the
highest; a ratio is of one round.
"""

import json
import statistics
import sys


def spread(form, values):
    if not values:
        return "-"
    middle, *ends = (form % v for v in (statistics.median(values), min(values), max(values)))
    return middle + (" (%s, %s)" % tuple(ends) if len(values) > 1 else "")


def work(m):
    """What was measured, as flags of bench."""
    text = f"{m['net']} --size {m['size']}"
    if not m.get("features"):
        text = f"{m['net']} --width {m['width']} --size {m['size']}"
        if m["per_domain"] != 16:
            text += f" --per-domain {m['per_domain']}"
        if m.get("precision") not in (None, "", "tf32", "float32"):
            text += f" --precision {m['precision']}"
    return text


def build(m):
    version = f" ({m['version']})" if m.get("version") else ""
    return f"{m['backend']}{version} with {m['threads']} threads"


def table(lines):
    features = bool(lines[0].get("features"))
    yardstick, unit, rate, scale = ("python", "ms an image", "images", 1000) if features else ("pytorch", "s a step", "steps", 1)
    engines = sorted(dict.fromkeys(m["backend"] for m in lines), key=lambda e: e == yardstick)
    compared = lambda e: e != yardstick and yardstick in engines
    head, rows, rounds = ["network"], [], []
    for e in engines:
        head += [f"{e}, {unit}"] + [f"{e} / {yardstick}, {rate} per second"] * compared(e) + [f"{e}, peak memory"]
    for w in dict.fromkeys(map(work, lines)):
        of = {e: {m["round"]: m for m in lines if m["backend"] == e and work(m) == w} for e in engines}
        seconds = {e: {r: m["step_seconds_median"] for r, m in some.items()} for e, some in of.items()}
        row = [w]
        for e in engines:
            rounds.append(len(of[e]))
            row.append(spread("%.3g", [scale * s for s in seconds[e].values()]))
            if compared(e):
                yard = seconds[yardstick]
                ratio = spread("%.2f", [yard[r] / s for r, s in seconds[e].items() if r in yard])
                row.append(ratio if ratio == "-" else f"**{ratio}**")
            row.append("%.2f GB" % (1e-9 * max(m["peak_memory_bytes"] for m in of[e].values())) if of[e] else "-")
        rows.append(row)
    cells = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    several = f"{max(rounds)} rounds" if min(rounds) == max(rounds) else f"{min(rounds)} to {max(rounds)} rounds"
    machines = [m for m in dict.fromkeys(m.get("machine") for m in lines) if m]
    return "\n".join(["| " + " | ".join(row) + " |" for row in cells] + [
        "", f"Medians of {several} in which the engines take turns, with the lowest and the highest; memory is the highest.",
        "", "Measured on " + "; ".join(machines + list(dict.fromkeys(map(build, lines)))) + "."])


if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        print(table([json.loads(line) for line in file]))
