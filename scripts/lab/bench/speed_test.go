package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/internal/fatal"
)

// line is a measurement as JSON.
func line(round, engine, net, width, size, batch, seconds, gigabytes string) string {
	return `{"round":` + round + `,"backend":"` + engine + `","net":"` + net + `","width":` + width + `,"size":` + size +
		`,"per_domain":` + batch + `,"step_seconds_median":` + seconds + `,"peak_memory_bytes":` + gigabytes +
		`e9,"version":"v1","threads":2,"precision":"tf32"}` + "\n"
}

func TestTable(t *testing.T) {
	// Go's third round failed; its ratios are those of rounds 1, 2 and 4: 1.0/2, 1.2/2 and 2.0/2.5.
	text := line("1", "go", "smallcnn", "64", "32", "16", "2", "0.5") +
		line("1", "pytorch", "smallcnn", "64", "32", "16", "1", "0.9") +
		line("2", "go", "smallcnn", "64", "32", "16", "2", "0.75") +
		line("2", "pytorch", "smallcnn", "64", "32", "16", "1.2", "0.8") +
		line("3", "pytorch", "smallcnn", "64", "32", "16", "9", "0.8") +
		line("4", "go", "smallcnn", "64", "32", "16", "2.5", "0.5") +
		line("4", "pytorch", "smallcnn", "64", "32", "16", "2", "0.8") +
		line("1", "go", "resnet50", "64", "224", "4", "10", "3")
	all := fatal.Get(readSpeed(strings.NewReader(text)))(t)
	var out bytes.Buffer
	fatal.If(t, speedTable(all).Write(&out, result.CSV))
	const want = `network,"go, s a step","go / pytorch, steps per second","go, peak memory","pytorch, s a step","pytorch, peak memory"
smallcnn --width 64 --size 32,"2 (2, 2.5)","0.60 (0.50, 0.80)",0.75 GB,"1.6 (1, 9)",0.90 GB
resnet50 --width 64 --size 224 --per-domain 4,10,-,3.00 GB,-,-
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Features are reported in milliseconds per image, beside another yardstick.
func TestFeaturesTable(t *testing.T) {
	image := func(round, engine, seconds string) string {
		return `{"round":` + round + `,"features":true,"net":"vit.onnx","size":224,"backend":"` + engine + `","threads":2,"step_seconds_median":` + seconds + `,"peak_memory_bytes":1e9}` + "\n"
	}
	all := fatal.Get(readSpeed(strings.NewReader(image("1", "python", "0.1") + image("1", "xla:cpu", "0.125") + image("2", "python", "0.2") + image("2", "xla:cpu", "0.125"))))(t)
	var out bytes.Buffer
	fatal.If(t, speedTable(all).Write(&out, result.CSV))
	const want = `network,"xla:cpu, ms an image","xla:cpu / python, images per second","xla:cpu, peak memory","python, ms an image","python, peak memory"
vit.onnx --size 224,"125 (125, 125)","1.20 (0.80, 1.60)",1.00 GB,"150 (100, 200)",1.00 GB
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	good := line("1", "go", "smallcnn", "64", "32", "16", "2", "0.5")
	for _, tt := range []struct{ text, want string }{
		{"", "no measurements"},
		{good + "FAILED\n", "line 2: "},
		{good + line("1", "go", "", "64", "32", "16", "2", "1"), "line 2: it does not say what"},
		{line("0", "go", "smallcnn", "64", "32", "16", "2", "1"), "line 1: it does not say what"},
		{line("1", "go", "smallcnn", "64", "32", "16", "0", "1"), "line 1: a step took 0 seconds"},
		{good + `{"round":1,"features":true,"net":"n","size":8,"backend":"go","step_seconds_median":1}`, "line 2: features of images and training steps"},
	} {
		fatal.Says(t, fatal.Err(readSpeed(strings.NewReader(tt.text))), tt.want)
	}
}
