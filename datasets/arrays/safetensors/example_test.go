package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log"

	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

func Example() {
	var file bytes.Buffer
	err := safetensors.Write(&file, []safetensors.Entry{
		{Name: "labels", DType: safetensors.Int32, Shape: []int{2}, Data: []byte{3, 0, 0, 0, 7, 0, 0, 0}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	h, err := safetensors.ParseHeader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		log.Fatal(err)
	}
	t, _ := h.Lookup("labels")
	labels := make([]int32, t.Len())
	if err := binary.Read(t.Data(), binary.LittleEndian, labels); err != nil {
		log.Fatal(err)
	}
	fmt.Println(t.Name, t.DType, t.Shape, labels)
	// Output: labels I32 [2] [3 7]
}
