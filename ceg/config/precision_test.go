package config

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestPrecisionAsText(t *testing.T) {
	for _, p := range []Precision{TF32, Float32, BFloat16} {
		text := fatal.Get(p.MarshalText())(t)
		q := Precision("other")
		if err := q.UnmarshalText(text); err != nil || q != p {
			t.Errorf("%q reads as %q, %v", text, string(q), err)
		}
	}
	var p Precision
	fatal.Says(t, p.UnmarshalText([]byte("float16")), "want tf32, float32 or bfloat16")
}
