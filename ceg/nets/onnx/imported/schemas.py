"""Writes schemas.txt, the signatures of ONNX's operations: pip install onnx; python schemas.py"""

import onnx

REPEATED = 2147483647
TYPES = {f"tensor({name.lower()})": number for name, number in onnx.TensorProto.DataType.items()}
TYPES["tensor(double)"] = onnx.TensorProto.DOUBLE


def count(least, most):
    return f"{least}-{'' if most == REPEATED else most}"


def types(values):
    return ",".join(str(TYPES.get(v.type_str, v.type_str)) for v in values)


with open("schemas.txt", "w") as f:
    print(f"# onnx {onnx.__version__}: opset {onnx.defs.onnx_opset_version()}, format {onnx.IR_VERSION}", file=f)
    last = None
    for s in sorted(onnx.defs.get_all_schemas_with_history(), key=lambda s: (s.name, s.since_version)):
        if s.domain != "":
            continue
        of = [count(s.min_input, s.max_input), count(s.min_output, s.max_output)]
        if all("(" not in v.type_str or v.type_str in TYPES for v in (*s.inputs, *s.outputs)) and s.name not in ("If", "Loop", "Scan"):
            of += ["<" + types(s.inputs), ">" + types(s.outputs)]
            for c in s.type_constraints:
                of.append(f"{c.type_param_str}:{sum(1 << TYPES[t] for t in c.allowed_type_strs if TYPES.get(t, 99) < 17):x}")
        for name, a in sorted(s.attributes.items()):
            of.append(f"{name}={int(a.type.value)}{'!' if a.required else ''}")
        if last != (s.name, of):
            print(s.name, s.since_version, *of, file=f)
        last = s.name, of
