"""Writes schemas.txt, the signatures of ONNX's operations: pip install onnx; python schemas.py"""

import onnx

REPEATED = 2147483647


def count(least, most):
    return f"{least}-{'' if most == REPEATED else most}"


with open("schemas.txt", "w") as f:
    print(f"# onnx {onnx.__version__}: opset {onnx.defs.onnx_opset_version()}, format {onnx.IR_VERSION}", file=f)
    last = None
    for s in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: (s.name, s.since_version)):
        if s.domain != "":
            continue
        of = [count(s.min_input, s.max_input), count(s.min_output, s.max_output)]
        for name, a in sorted(s.attributes.items()):
            of.append(f"{name}={int(a.type.value)}{'!' if a.required else ''}")
        if last != (s.name, of):
            print(s.name, s.since_version, *of, file=f)
        last = s.name, of
