package pretrained

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Pin names one file on the Hugging Face hub to the byte.
type Pin struct {
	// Arch is the network that the weights are of, for example "resnet18".
	Arch string
	// Repo, Revision (a commit) and File say where the file is on the hub.
	Repo, Revision, File string
	// Size is the file's length in bytes and SHA256 its digest, in lower-case
	// hexadecimal.
	Size   int64
	SHA256 string
	// Data is what the weights were trained on, Licence the repository's licence,
	// and Top1 the accuracy in per cent on ImageNet-1k's validation set.
	Data, Licence string
	Top1          float64
}

// Width is the number of channels in the first stage of the networks of Pins.
const Width = 64

// imageNet is how [Source.Data] names ImageNet-1k.
const imageNet = "ImageNet-1k"

// Pins returns the weights that "imagenet" can stand for, one for each network.
func Pins() []Pin {
	pin := func(arch, revision string, size int64, digest string, top1 float64) Pin {
		return Pin{
			Arch: arch, Repo: "timm/" + arch + ".tv_in1k", Revision: revision, File: "model.safetensors",
			Size: size, SHA256: digest, Data: imageNet, Licence: "BSD-3-Clause", Top1: top1,
		}
	}
	return []Pin{
		pin("resnet18", "590dfdd48494d2316a8385e1ca7fbec3b9359b35", 46807446,
			"694f673df6520a3158624e8a89af086f59923ee4cd7436fe5bc3bc71d295ad81", 69.758),
		pin("resnet34", "c983eba7f5e69bc3548a626d1b0b0b914e5de3a6", 87278522,
			"0bb82595a564991a9d424708b33f5d843f5aaed7f6c0886ff10849ff97022235", 73.314),
		pin("resnet50", "aa6c2d36d56bc0209040c02b5a7b7d7bf11d57b8", 102469840,
			"5d061a3c593d795bfe682d9b152bafbcf550579873492def3515b46db1189888", 76.130),
	}
}

// URL returns the address of the file on the hub.
func (p Pin) URL() string {
	return fmt.Sprintf("https://huggingface.co/%s/resolve/%s/%s", p.Repo, p.Revision, p.File)
}

// cachePath returns where the hub's cache in dir keeps the file.
func (p Pin) cachePath(dir string) string {
	return filepath.Join(p.snapshots(dir), p.Revision, p.File)
}

// snapshots is the folder with one folder for each revision in the cache.
func (p Pin) snapshots(dir string) string {
	return filepath.Join(dir, "models--"+strings.ReplaceAll(p.Repo, "/", "--"), "snapshots")
}

// torchvision lists the first eight digits of the SHA-256 of torchvision's own
// ResNet files, which are part of their names (resnet18-f37072fd.pth), older
// uploads included. All were trained on ImageNet-1k.
var torchvision = map[string]string{
	"f37072fd": "resnet18", "5c106cde": "resnet18",
	"b627a593": "resnet34", "333f7ec4": "resnet34",
	"0676ba61": "resnet50", "19c8e357": "resnet50", "11ad3fa6": "resnet50",
}
