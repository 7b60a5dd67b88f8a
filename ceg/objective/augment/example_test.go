package augment_test

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/seed"
)

// A weak and a strong view of one image, each from its own stream. The same
// stream gives the same view again.
func Example() {
	img := rgb.New(32, 32)
	img.Set(3, 4, 200, 100, 50)

	weak := augment.Weak(img, seed.New(1, "weak view", 0, 17))
	strong := augment.Strong(img, seed.New(1, "strong view", 0, 17))
	again := augment.Strong(img, seed.New(1, "strong view", 0, 17))

	fmt.Println(weak.Width, weak.Height, strong.Width, strong.Height)
	fmt.Println(string(strong.Pix) == string(again.Pix))
	// Output:
	// 32 32 32 32
	// true
}

// The operations of the policy, with the ranges of their magnitudes.
func ExamplePolicy() {
	for _, op := range augment.Policy() {
		if op.Min == op.Max {
			fmt.Println(op.Name)
			continue
		}
		fmt.Printf("%s %v to %v\n", op.Name, op.Min, op.Max)
	}
	// Output:
	// AutoContrast
	// Brightness 0.05 to 0.95
	// Color 0.05 to 0.95
	// Contrast 0.05 to 0.95
	// Equalize
	// Identity
	// Posterize 4 to 8
	// Rotate -30 to 30
	// Sharpness 0.05 to 0.95
	// ShearX -0.3 to 0.3
	// ShearY -0.3 to 0.3
	// Solarize 0 to 256
	// TranslateX -0.3 to 0.3
	// TranslateY -0.3 to 0.3
}

// One operation with an explicit magnitude.
func ExampleOp_Apply() {
	img := rgb.New(3, 1)
	img.Set(0, 0, 10, 10, 10)
	img.Set(1, 0, 127, 128, 129)
	img.Set(2, 0, 250, 250, 250)
	for _, op := range augment.Policy() {
		if op.Name == "Solarize" {
			fmt.Println(op.Apply(img, 128).Pix)
		}
	}
	// Output: [10 10 10 127 127 126 5 5 5]
}
