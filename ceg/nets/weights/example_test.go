package weights_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/nets/weights"
)

// A checkpoint of torch.save, read, matched with a network and written as
// .safetensors.
func Example() {
	file, err := weights.Open("testdata/tiny.pth")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(file.Format, file.Digest[:12], file.Tensors.Names())

	// The network wants two of the three tensors.
	want := []weights.Spec{{"features.conv.weight", []int{2, 3, 2, 2}}, {"features.scale", []int{10}}}
	_, _, err = weights.Assign(want, file.Tensors)
	fmt.Println(err)

	values, report, err := weights.Assign(want, file.Tensors[:2])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Loaded, "tensors,", values["features.scale"][:2], report.Notes)

	dir, err := os.MkdirTemp("", "weights")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	out := weights.StateDict{weights.FromFloat32("features.scale", []int{10}, values["features.scale"])}
	digest, err := weights.Save(filepath.Join(dir, "scale.safetensors"), out, map[string]string{"data": "random"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(digest[:12])
	// Output:
	// PyTorch zip 86f4b8992c96 [features.conv.weight features.scale steps]
	// the weights do not fit the network: unexpected (1): steps [5]
	// 2 tensors, [0.9916992 -1.8300781] [stored as float16, converted to float32]
	// 0fbff077f8ea
}

func ExampleAssign_head() {
	sd := weights.StateDict{
		weights.FromFloat32("module.conv1.weight", []int{1, 1, 1, 1}, []float32{0.5}),
		weights.FromFloat32("module.fc.weight", []int{1000, 1}, make([]float32, 1000)),
		weights.FromFloat32("module.fc.bias", []int{1000}, make([]float32, 1000)),
	}
	want := []weights.Spec{{"conv1.weight", []int{1, 1, 1, 1}}, {"fc.weight", []int{7, 1}}, {"fc.bias", []int{7}}}
	values, report, err := weights.Assign(want, sd)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values, report.HeadLoaded)
	for _, note := range report.Notes {
		fmt.Println(note)
	}
	// Output:
	// map[conv1.weight:[0.5]] false
	// prefix "module." taken off every name
	// classifier head dropped: got fc.weight [1000 1], fc.bias [1000], want fc.weight [7 1], fc.bias [7]
}
