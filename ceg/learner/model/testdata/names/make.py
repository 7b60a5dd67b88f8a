"""Makes small networks of images and texts, with random weights, and what PyTorch says of them.

    python make.py        (PyTorch 1.13, transformers 4.44.2, onnx 1.17)

clip and siglip have the files of transformers.js: vision_model.onnx and text_model.onnx. Their tokenizers are those of nets/tokenizer/testdata.
golden.json has embeddings of length 1 of texts, and of the image that image(0) of the test is.
"""
import json
import pathlib

import numpy as np
import onnx
import torch
from transformers import CLIPConfig, CLIPModel, CLIPTextModelWithProjection, CLIPVisionModelWithProjection, PreTrainedTokenizerFast, SiglipConfig, SiglipModel

HERE = pathlib.Path(__file__).parent
TOKENIZERS = HERE / "../../../../nets/tokenizer/testdata"
TEXTS = ["a photo of a Red Fox.", "café crème, naïve", "🦊 👩‍🔬", "AN UPPER CASE TITLE", "İstanbul ΣΊΣΥΦΟΣ ½", "a very long text " * 40]


def short(path):
    """Shortens the names within a network."""
    m = onnx.load(str(path))
    keep = {v.name for v in [*m.graph.input, *m.graph.output]}
    new = {}
    for n in m.graph.node:
        n.name, n.doc_string = "", ""
        for list_ in (n.input, n.output):
            for i, s in enumerate(list_):
                if s and s not in keep:
                    list_[i] = new.setdefault(s, f"v{len(new)}")
    for w in m.graph.initializer:
        if w.name not in keep:
            w.name = new.setdefault(w.name, f"v{len(new)}")
    del m.graph.value_info[:]
    onnx.checker.check_model(m)
    path.write_bytes(m.SerializeToString())


def export(model, args, path, inputs, outputs, axes):
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(model, args, str(path), input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=14, do_constant_folding=True)
    short(path)


def image(size):
    b = np.array([(i * i >> 3) & 255 for i in range(size * size * 3)], dtype=np.uint8).reshape(size, size, 3)
    return torch.tensor(b.astype(np.float32) / 255).permute(2, 0, 1)[None]


def unit(v):
    v = v.detach().double()
    return (v / v.norm(dim=-1, keepdim=True)).tolist()


def tokens(name, context, pad):
    t = PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZERS / f"{name}.json"))
    out, masks = [], []
    for text in TEXTS:
        if name != "clip":
            text = text.lower()
        ids = t(text, truncation=True, max_length=context).input_ids
        masks.append([1] * len(ids) + [0] * (context - len(ids)))
        out.append(ids + [pad] * (context - len(ids)))
    return torch.tensor(out), torch.tensor(masks)


def main():
    golden = {"texts": TEXTS}
    torch.manual_seed(1)
    text = dict(hidden_size=8, intermediate_size=16, num_attention_heads=2, attn_implementation="eager")
    vision = dict(hidden_size=8, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=32, patch_size=16)
    vocab = json.loads((TOKENIZERS / "clip.json").read_text())["model"]["vocab"]
    end = vocab["<|endoftext|>"]

    for name in ["clip"]:
        c = CLIPConfig(text_config=dict(text, num_hidden_layers=2, vocab_size=len(vocab), max_position_embeddings=77, bos_token_id=end - 1, eos_token_id=end, pad_token_id=end),
                       vision_config=vision, projection_dim=6, attn_implementation="eager")
        m = CLIPModel(c).eval()
        for p in m.parameters():
            p.data = torch.randn_like(p) * (0.5 if p.ndim > 1 else 0.3) + (1 if p.ndim == 1 and p.mean() > 0.5 else 0)
        ids, masks = tokens("clip", 77, end)
        pixels = (image(32) - 0.5) / 0.5
        golden[name] = {"text": unit(m.get_text_features(input_ids=ids, attention_mask=masks)), "image": unit(m.get_image_features(pixel_values=pixels))[0]}
        v, t = CLIPVisionModelWithProjection(c.vision_config).eval(), CLIPTextModelWithProjection(c.text_config).eval()
        v.vision_model, v.visual_projection, t.text_model, t.text_projection = m.vision_model, m.visual_projection, m.text_model, m.text_projection

        class Text(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.t = t

            def forward(self, input_ids, attention_mask):
                o = self.t(input_ids=input_ids, attention_mask=attention_mask)
                return o.text_embeds, o.last_hidden_state

        class Vision(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.v = v

            def forward(self, pixel_values):
                o = self.v(pixel_values=pixel_values)
                return o.image_embeds, o.last_hidden_state
        any_ = {0: "batch", 1: "sequence"}
        export(Text(), (ids[:1], masks[:1]), HERE / "clip/text_model.onnx", ["input_ids", "attention_mask"], ["text_embeds", "last_hidden_state"], {"input_ids": any_, "attention_mask": any_})
        export(Vision(), (pixels,), HERE / "clip/vision_model.onnx", ["pixel_values"], ["image_embeds", "last_hidden_state"], {"pixel_values": {0: "batch"}})

    size = len(json.loads((TOKENIZERS / "siglip.json").read_text())["model"]["vocab"])
    c = SiglipConfig(text_config=dict(text, num_hidden_layers=1, vocab_size=size, max_position_embeddings=64), vision_config=vision, attn_implementation="eager")
    m = SiglipModel(c).eval()
    for p in m.parameters():
        p.data = torch.randn_like(p) * (0.5 if p.ndim > 1 else 0.3) + (1 if p.ndim == 1 and p.mean() > 0.5 else 0)
    m.vision_model.embeddings.patch_embedding.padding = (0, 0)  # "valid", which this exporter does not know
    ids, _ = tokens("siglip", 64, 1)
    pixels = (image(32) - 0.5) / 0.5
    golden["siglip"] = {"text": unit(m.get_text_features(input_ids=ids)), "image": unit(m.get_image_features(pixel_values=pixels))[0]}

    class SText(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.m = m

        def forward(self, input_ids):
            o = self.m.text_model(input_ids=input_ids)
            return o.last_hidden_state, o.pooler_output

    class SVision(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.m = m

        def forward(self, pixel_values):
            o = self.m.vision_model(pixel_values=pixel_values)
            return o.last_hidden_state, o.pooler_output
    export(SText(), (ids[:1],), HERE / "siglip/text_model.onnx", ["input_ids"], ["last_hidden_state", "pooler_output"], {"input_ids": {0: "batch", 1: "sequence"}})
    export(SVision(), (pixels,), HERE / "siglip/vision_model.onnx", ["pixel_values"], ["last_hidden_state", "pooler_output"], {"pixel_values": {0: "batch"}})
    (HERE / "golden.json").write_text(json.dumps(golden) + "\n")


main()
