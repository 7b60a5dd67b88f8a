package speed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
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
	all, err := Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Table(all).Write(&out, result.CSV); err != nil {
		t.Fatal(err)
	}
	const want = `network,"go, s a step","go / pytorch, steps per second","go, peak memory","pytorch, s a step","pytorch, peak memory"
smallcnn --width 64 --size 32,"2 (2, 2.5)","0.60 (0.50, 0.80)",0.75 GB,"1.6 (1, 9)",0.90 GB
resnet50 --width 64 --size 224 --per-domain 4,10,-,3.00 GB,-,-
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if note := Table(all).Notes[1]; note != "Nothing is below half of pytorch's speed." {
		t.Errorf("note %q", note)
	}
	more, err := Read(strings.NewReader(text + line("1", "xla:cpu", "smallcnn", "64", "32", "16", "2.5", "1") +
		line("2", "xla:cpu", "smallcnn", "64", "32", "16", "2", "1") + line("3", "xla:cpu", "smallcnn", "64", "32", "16", "30", "1")))
	if err != nil {
		t.Fatal(err)
	}
	// The ratios are 0.4, 0.6 and 0.3.
	if note, want := Table(more).Notes[1], "Below half of pytorch's speed: xla:cpu at smallcnn --width 64 --size 32 (0.40)."; note != want {
		t.Errorf("note %q, want %q", note, want)
	}
	if _, err := Growth(all); err == nil || !strings.Contains(err.Error(), "nothing was measured at several") {
		t.Errorf("growth of single measurements: %v", err)
	}
}

// Features are reported in milliseconds per image, beside another yardstick.
func TestFeaturesTable(t *testing.T) {
	image := func(round, engine, seconds string) string {
		return `{"round":` + round + `,"features":true,"net":"vit.onnx","size":224,"backend":"` + engine + `","threads":2,"step_seconds_median":` + seconds + `,"peak_memory_bytes":1e9}` + "\n"
	}
	all, err := Read(strings.NewReader(image("1", "python", "0.1") + image("1", "xla:cpu", "0.125") + image("2", "python", "0.2") + image("2", "xla:cpu", "0.125")))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Table(all).Write(&out, result.CSV); err != nil {
		t.Fatal(err)
	}
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
		if _, err := Read(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got error %v, want %q in it", tt.text, err, tt.want)
		}
	}
}

func TestGrowth(t *testing.T) {
	var text strings.Builder
	for _, size := range []string{"96", "32", "64"} {
		for _, round := range []string{"1", "2"} {
			text.WriteString(line(round, "go", "resnet18", "16", size, "16", size, "1"))
		}
	}
	text.WriteString(line("1", "go", "resnet18", "8", "64", "16", "5", "1"))
	text.WriteString(line("1", "xla:cpu", "resnet18", "8", "64", "16", "4", "1"))
	all, err := Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Growth(all)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].XLabel != "Side of the images (pixels)" || got[1].XLabel != "Width of the network" {
		t.Fatalf("got %+v, want growth with size and width", got)
	}
	if got[0].Title != "resnet18, width 16, batch 16" || len(got[0].Curves) != 1 {
		t.Errorf("size: got %+v", got[0])
	}
	var xs []float64
	for _, p := range got[0].Curves[0].Points {
		xs = append(xs, p.X)
		if len(p.Values) != 2 || p.Values[0] != p.X {
			t.Errorf("at %v: got %v", p.X, p.Values)
		}
	}
	if len(xs) != 3 || xs[0] != 32 || xs[2] != 96 {
		t.Errorf("got sizes %v, want 32, 64, 96", xs)
	}
	if len(got[1].Curves) != 2 || got[1].Curves[1].Name != "xla:cpu" || len(got[1].Curves[1].Points) != 1 {
		t.Errorf("width: got %+v", got[1])
	}
}
