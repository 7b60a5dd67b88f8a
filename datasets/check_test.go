package datasets

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// messyFolder has one of everything that Check reports.
func messyFolder(t testing.TB) (*Dataset, Truth) {
	t.Helper()
	fsys := pictures(t, "art/cat/1.png", "art/dog/1.png", "photo/cat/1.png", "photo/cat/2.png", "photo/cat/3.png")
	fsys["photo/cat/copy.png"] = fsys["art/dog/1.png"]
	fsys["art/cat/copy.png"] = fsys["art/cat/1.png"]
	half := jpegFile(t, noise(9, 20, 20))
	half.Data = half.Data[:len(half.Data)/2]
	fsys["photo/cat/half.jpg"] = half
	fsys["photo/cat/note.txt"] = &fstest.MapFile{Data: []byte("some text")}
	return fatal.Get2(Folder(fsys, Options{}))(t)
}

const messyReport = `folder: 8 images in 2 sites of 2 classes (6 train, 2 val)

     art  photo  all
cat  1+1    4+1    7
dog  1+0      -    1
all  2+1    4+1    8

1 image that cannot be decoded:
  photo/cat/half.jpg: the file is truncated: unexpected EOF

1 file skipped:
  photo/cat/note.txt: none of JPEG, PNG, GIF, BMP, TIFF, WebP: it starts with "some tex"

1 group of byte-identical images across sites:
  art/dog/1.png = photo/cat/copy.png (of different classes)

1 group of byte-identical images within a site:
  art/cat/1.png = art/cat/copy.png

1 class missing in a site:
  photo has no dog
`

// Without labels there is no table of dashes, whatever the number of classes.
func TestCheckWithoutLabels(t *testing.T) {
	r := &Report{Name: "folder", Domains: []string{"art", "photo"}, Classes: []string{"cat", "dog"}, Counts: [][]Count{make([]Count, 2), make([]Count, 2)}, Unlabelled: []int{3, 4}}
	if got := r.String(); strings.Contains(got, "cat") || strings.Contains(got, "-") || !strings.Contains(got, "art             3\nphoto           4\nall             7\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestCheck(t *testing.T) {
	d, truth := messyFolder(t)
	calls := 0
	r := fatal.Get(Check(t.Context(), d, truth, func(done, total int) {
		calls++
		if done != calls || total != 8 {
			t.Errorf("progress says %d of %d after %d calls", done, total, calls)
		}
	}))(t)
	if got := r.String(); got != messyReport {
		t.Errorf("got\n%s\nwant\n%s", got, messyReport)
	}
	var b strings.Builder
	if n, err := r.WriteTo(&b); err != nil || n != int64(len(messyReport)) || b.String() != messyReport {
		t.Errorf("WriteTo wrote %d bytes, %v", n, err)
	}
	text := fatal.Get(json.Marshal(r))(t)
	var back Report
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(*r, back) {
		t.Errorf("JSON %s, %v", text, err)
	}
	for _, want := range []string{`"counts":[[{"train":1,"val":1},{"train":1,"val":0}],`, `"cross_domain":true,"cross_class":true`,
		`"missing":[{"domain":"photo","class":"dog"}]`, `"differences":[]`, `"unreadable":[{"id":"photo/cat/half.jpg","reason":`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("JSON %s\nis without %s", text, want)
		}
	}
}

func TestCheckErrors(t *testing.T) {
	d, truth := messyFolder(t)
	if _, err := Check(t.Context(), d, Truth{}, nil); err == nil {
		t.Error("the truth of another data set gave no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, d, truth, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestCheckGenerated(t *testing.T) {
	d, truth := fatal.Get2(NewGenerated("toy", []string{"a", "b"}, []string{"x", "y"}, sixExamples, sixClasses, drawSix, "k"))(t)
	r := fatal.Get(Check(t.Context(), d, truth, nil))(t)
	if len(r.Identical) != 0 || !strings.HasSuffix(r.String(), "nothing else to report.\n") {
		t.Errorf("report:\n%s", r)
	}
}

func TestRealCheck(t *testing.T) {
	d, truth := fatal.Get2(Open("pacs", pacsRoot(t), Options{}))(t)
	r := fatal.Get(Check(t.Context(), d, truth, nil))(t)
	if len(r.Unreadable)+len(r.Missing)+len(r.Differences) != 0 {
		t.Errorf("report:\n%s", r)
	}
	if want := []Count{{341, 38, 0}, {229, 26, 0}, {256, 29, 0}, {165, 19, 0}, {180, 21, 0}, {265, 30, 0}, {404, 45, 0}}; !slices.Equal(r.Counts[0], want) {
		t.Errorf("art_painting has %v, want %v", r.Counts[0], want)
	}
}

func ExampleCheck() {
	d, truth, err := NewGenerated("toy", []string{"ink", "chalk"}, []string{"one", "two"},
		[]Example{{"ink/1", 0, Train}, {"ink/2", 0, Val}, {"chalk/1", 1, Train}}, []int{0, 1, 0}, drawSix, "toy 1")
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := Check(context.Background(), d, truth, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(report)
	// Output:
	// toy: 3 images in 2 domains of 2 classes (2 train, 1 val)
	//
	//      ink  chalk  all
	// one  1+0    1+0    2
	// two  0+1      -    1
	// all  1+1    1+0    3
	//
	// 1 class missing in a domain:
	//   chalk has no two
}
