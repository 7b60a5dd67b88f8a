package pretrained_test

import (
	"context"
	"fmt"
	"log"

	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
)

func ExampleOpen() {
	for _, word := range []string{"none", "../testdata/tiny.safetensors"} {
		src, err := pretrained.Open(context.Background(), word, "resnet18", pretrained.Options{})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(src)
	}
	// Output:
	// none
	// tiny.safetensors (unknown, sha256 e12b2519dc78)
}
