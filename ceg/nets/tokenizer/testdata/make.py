"""Makes small tokenizers of the families, and what Hugging Face's tokenizers say of texts.

    python make.py        (tokenizers 0.22.2, sentencepiece 0.2.3, open_clip_torch 3.3.0 for CLIP's merges)

clip.json has the first merges of CLIP's byte pairs; siglip.json is a unigram model with a map of
characters, as SigLIP's; gemma.json has byte pairs with bytes as a way out, as SigLIP 2's. golden.json
has the tokens of texts, by tokenizer. With a folder as argument, the tokenizers are the full ones of
that folder, and nothing but FOLDER/golden.json is written.
"""
import base64
import gzip
import importlib.util
import io
import json
import pathlib
import re
import string
import sys

import sentencepiece
import tokenizers

TEXTS = [
    "a photo of a Red Fox.", "", " ", "Ein Foto von einem Röhricht-Ästling", "CAFÉ\u0301 crème", "un château\u00a0à l'été",
    "don't we'll it's THEY'RE rock'n'roll ''s", "🦊 fox 👩‍🔬 scientist 🇨🇭 flag ❤️", "İstanbul ΣΊΣΥΦΟΣ straße ŒUVRE ﬁne ½ ①",
    "日本語の写真 写真", "한국어 사진", "x\ty\nz  w   v", "  leading and trailing  ", "123,456.78 €", "semi-natural_grassland!!! (empty)",
    "Vulpes vulpes (Linnaeus, 1758)", "<|endoftext|> </s> <eos> <pad> <unk>", "zażółć gęślą jaźń", "a\u200bb\u2028c\u0085d\u3000e\ufeff",
    "\u1e9b\u0323 \u212b \ufb03 ｆｕｌｌ ｗｉｄｔｈ", "नमस्ते दुनिया", "e\u0301\u0302\u0303 a\u0308\u0304", "!!!???...", "AbCdEfG", "\x00\x07", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𐐀",
    "a very long text " * 40, "w" * 300, "a photo of the large, spotted animal that walks at night through the forest, " * 6,
]


def special(at, text, normalized=False):
    return {"id": at, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": normalized, "special": True}


def clip(count):
    at = pathlib.Path(importlib.util.find_spec("open_clip").origin).parent / "bpe_simple_vocab_16e6.txt.gz"
    merges = gzip.open(at).read().decode().split("\n")[1:49152 - 256 - 2 + 1][:count]
    byte = [*range(33, 127), *range(0xa1, 0xad), *range(0xae, 0x100)]
    rest = [b for b in range(256) if b not in byte]
    letters = [chr(b) for b in byte] + [chr(256 + i) for i in range(len(rest))]
    vocab = letters + [v + "</w>" for v in letters] + ["".join(m.split()) for m in merges] + ["<|startoftext|>", "<|endoftext|>"]
    end = len(vocab) - 1
    split = "'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+"
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [special(end - 1, "<|startoftext|>", True), special(end, "<|endoftext|>")],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "Lowercase"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": split}, "behavior": "Removed", "invert": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}]},
        "post_processor": {"type": "RobertaProcessing", "sep": ["<|endoftext|>", end], "cls": ["<|startoftext|>", end - 1], "trim_offsets": False, "add_prefix_space": False},
        "decoder": None,
        "model": {"type": "BPE", "dropout": None, "unk_token": "<|endoftext|>", "continuing_subword_prefix": "", "end_of_word_suffix": "</w>", "fuse_unk": False,
                  "vocab": {v: i for i, v in enumerate(vocab)}, "merges": merges}}


def spiece(kind, size, rules=None, **more):
    words = (TEXTS[:24] + re.findall(r"[^\n]+", __doc__ + string.printable)) * 20
    out = io.BytesIO()
    pathlib.Path("/tmp/rules.tsv").write_text(rules or "")
    rule = more.pop("rule", "identity")
    how = {"normalization_rule_tsv": "/tmp/rules.tsv"} if rules else {"normalization_rule_name": rule}
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(words), model_writer=out, model_type=kind, vocab_size=size, hard_vocab_limit=False, **how, **more)
    from sentencepiece import sentencepiece_model_pb2 as pb
    model = pb.ModelProto()
    model.ParseFromString(out.getvalue())
    return model


def siglip(size, rules=None, rule="nmt_nfkc"):
    """As transformers.js converts SigLIP's spiece.model."""
    model = spiece("unigram", size, rules, rule=rule, unk_id=2, eos_id=1, pad_id=0, bos_id=-1, character_coverage=0.98)
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [special(1, "</s>"), special(2, "<unk>")],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Lowercase"}, {"type": "Replace", "pattern": {"Regex": "[" + re.escape(string.punctuation) + "]"}, "content": ""},
            {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}, {"type": "Strip", "strip_left": True, "strip_right": True},
            {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()}]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True},
        "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                           "special_tokens": {"</s>": {"id": "</s>", "ids": [1], "tokens": ["</s>"]}}},
        "decoder": None,
        "model": {"type": "Unigram", "unk_id": 2, "byte_fallback": False, "vocab": [[p.piece, p.score] for p in model.pieces]}}


def gemma(size):
    """As SigLIP 2's: pieces of bytes for what has none."""
    model = spiece("bpe", size, byte_fallback=True, unk_id=3, eos_id=1, pad_id=0, bos_id=2, character_coverage=0.98)
    vocab = {p.piece: i for i, p in enumerate(model.pieces)}
    merges = []
    for i, p in enumerate(model.pieces):
        if p.type == 1 and len(p.piece) > 1:
            for cut in range(1, len(p.piece)):
                a, b = p.piece[:cut], p.piece[cut:]
                if a in vocab and b in vocab:
                    merges.append((i, vocab[a], vocab[b], [a, b]))
    merges = [m[3] for m in sorted(merges)]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [special(i, t) for i, t in enumerate(["<pad>", "<eos>", "<bos>", "<unk>"])],
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False},
        "post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<eos>", "type_id": 0}}],
                           "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "<eos>", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                           "special_tokens": {"<eos>": {"id": "<eos>", "ids": [1], "tokens": ["<eos>"]}}},
        "decoder": None,
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True,
                  "ignore_merges": False, "vocab": {("<eos>" if v == "</s>" else "<bos>" if v == "<s>" else v): i for v, i in vocab.items()}, "merges": merges}}


def golden(folder):
    out = {"texts": TEXTS, "context": {"clip": 77, "siglip": 64, "gemma": 64}}
    for name, context in list(out["context"].items()):
        if not (folder / f"{name}.json").exists():
            continue
        t = tokenizers.Tokenizer.from_file(str(folder / f"{name}.json"))
        t.enable_truncation(context)
        out[name] = [t.encode(x).ids for x in TEXTS]
    (folder / "golden.json").write_text(json.dumps(out, ensure_ascii=True, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    here = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    if len(sys.argv) < 2:
        rules = "\n".join(["212B\tC5", "FB03\t66 66 69", "2460\t31", "BD\t31 2044 32", "A0\t20", "65 301\tE9", "FF46\t66", "200B\t", "E4 304\t1DF"]) + "\n"
        for name, what in {"clip": clip(400), "siglip": siglip(420, rules), "gemma": gemma(700)}.items():
            (here / f"{name}.json").write_text(json.dumps(what, ensure_ascii=False, separators=(",", ":")) + "\n")
    golden(here)
