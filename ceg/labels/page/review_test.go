package page_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// vectors opens features of the images in a folder: a direction for each class, and noise.
// Those of second are nearly those of first.
func vectors(t *testing.T, root, first, second string) *datasets.Dataset {
	t.Helper()
	images := folder(t, root)
	r := rand.New(rand.NewPCG(1, 2))
	const dim = 24
	var ids []string
	var domains, data []byte
	features := make(map[string][]float32)
	for _, e := range images.Examples {
		x := make([]float32, dim)
		for j := range x {
			x[j] = float32(0.15 * r.NormFloat64())
		}
		x[slices.Index(animals, classOf(e.ID))]++
		features[e.ID] = x
		ids = append(ids, e.ID)
		domains = binary.LittleEndian.AppendUint64(domains, uint64(e.Domain))
	}
	for j, v := range features[first] {
		features[second][j] = 1.01 * v
	}
	for _, id := range ids {
		for _, v := range features[id] {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
	}
	text := func(name string, list []string) safetensors.Entry {
		var b []byte
		for _, s := range list {
			b = fmt.Appendf(b, "%q\n", s)
		}
		return safetensors.Entry{Name: name, DType: safetensors.Uint8, Shape: []int{len(b)}, Data: b}
	}
	origin := fatal.Get(json.Marshal(datasets.Origin{Dataset: "folder", Root: root, Network: "test"}))(t)
	var b bytes.Buffer
	fatal.If(t, safetensors.Write(&b, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{len(ids), dim}, Data: data},
		{Name: "domains", DType: safetensors.Int64, Shape: []int{len(ids)}, Data: domains},
		text("ids", ids), text("domain_names", images.Domains),
	}, map[string]string{datasets.OriginKey: string(origin)}))
	file := filepath.Join(t.TempDir(), "features.safetensors")
	fatal.If(t, os.WriteFile(file, b.Bytes(), 0o666))
	d, _ := fatal.Get2(datasets.Open(datasets.FeaturesFile, file, datasets.Options{}))(t)
	return d
}

// reviewed is a reply of review.
type reviewed struct {
	Why     string
	Working bool
	Items   []struct {
		ID, Rev, Class, Suggested string
		First                     *struct{ ID, Class string }
	}
}

func (w window) review(kind string) (v reviewed) {
	w.tb.Helper()
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		if status := w.get("review", url.Values{"kind": {kind}}, &v); status != http.StatusOK {
			w.tb.Fatalf("review: status %d", status)
		}
		if !v.Working {
			return v
		}
		v = reviewed{}
	}
	w.tb.Fatal("the review takes more than a minute")
	return v
}

// suspectIDs are the IDs of a review's items.
func (v reviewed) ids() (list []string) {
	for _, it := range v.Items {
		list = append(list, it.ID)
	}
	return list
}

// labelled labels all images of a data set but one, some of them wrongly, and returns the wrong
// ones.
func labelled(t *testing.T, o page.Options, but string) (wrong []string) {
	t.Helper()
	var events []labels.Event
	for i, e := range o.Data.Examples {
		if e.ID == but {
			continue
		}
		class := classOf(e.ID)
		if i%11 == 4 {
			class = animals[(slices.Index(animals, class)+1)%3]
			wrong = append(wrong, e.ID)
		}
		events = append(events, labels.Event{Kind: labels.Labelled, ID: e.ID, Class: class, By: "bob"})
	}
	fatal.Get(o.Ledger.Append(events...))(t)
	return wrong
}

const copied, copyOf = "sketch/2/0003.png", "photo/2/0001.png"

// Labels that were given wrongly come first, with the right class, and go when they are
// corrected or confirmed; of two images that are nearly the same the second gets the label
// of the first, or leaves the pool.
func TestReview(t *testing.T) {
	root := images(t, 3, 5) // 60 images
	d := vectors(t, root, copyOf, copied)
	dir := t.TempDir()
	o := options(t, d, root, dir, animals)
	_, address := serve(t, o)
	w := window{t, address, "w"}
	if v := w.review("suspicious"); len(v.Items) != 0 || v.Why == "" {
		t.Errorf("without labels: %+v", v)
	}
	if v := w.review("duplicates"); len(v.Items) != 1 || v.Items[0].First == nil || v.Items[0].First.Class != "" {
		t.Errorf("without labels: %+v", v)
	}
	wrong := labelled(t, o, copied)
	v := w.review("suspicious")
	if v.Why != "" || len(v.Items) < 3 {
		t.Fatalf("%d items, %d are wrong: %s", len(v.Items), len(wrong), v.Why)
	}
	for _, it := range v.Items[:3] {
		if !slices.Contains(wrong, it.ID) || it.Suggested != classOf(it.ID) {
			t.Errorf("%s: %s is suggested instead of %s; wrong are %v", it.ID, it.Suggested, it.Class, wrong)
		}
	}
	fixed, confirmed := v.Items[0], v.Items[1]
	if status, _, notice := w.act(map[string]any{"op": "label", "id": fixed.ID, "rev": fixed.Rev, "class": fixed.Suggested}); status != http.StatusOK || notice != "" {
		t.Fatal(status, notice)
	}
	if status, _, notice := w.act(map[string]any{"op": "confirm", "id": confirmed.ID, "rev": confirmed.Rev, "class": confirmed.Class}); status != http.StatusOK || notice != "" {
		t.Fatal(status, notice)
	}
	st := state(t, dir)
	if im := st.Image(confirmed.ID); im.Class != confirmed.Class || im.By != "ann" {
		t.Errorf("what was confirmed is %+v", im)
	}
	if ids := w.review("suspicious").ids(); slices.Contains(ids, fixed.ID) || slices.Contains(ids, confirmed.ID) {
		t.Errorf("what was settled is there again: %v", ids)
	}
	if status, _, _ := w.act(map[string]any{"op": "confirm", "id": v.Items[2].ID, "rev": "1.1.1", "class": v.Items[2].Class}); status != http.StatusConflict {
		t.Errorf("confirming what was not seen: status %d", status)
	}

	v = w.review("duplicates")
	if len(v.Items) != 1 || v.Items[0].ID != copied || v.Items[0].First.ID != copyOf || v.Items[0].First.Class != st.Image(copyOf).Class {
		t.Fatalf("nearly the same are %+v", v.Items)
	}
	w.act(map[string]any{"op": "bad", "id": copied, "rev": v.Items[0].Rev})
	if v := w.review("duplicates"); len(v.Items) != 0 {
		t.Errorf("after it has left the pool: %+v", v.Items)
	}
	w.act(map[string]any{"op": "undo"})
	v = w.review("duplicates")
	w.act(map[string]any{"op": "label", "id": copied, "rev": v.Items[0].Rev, "class": v.Items[0].First.Class})
	if v := w.review("duplicates"); len(v.Items) != 0 {
		t.Errorf("with the same label: %+v", v.Items)
	}
	if im := state(t, dir).Image(copied); im.Class != state(t, dir).Image(copyOf).Class {
		t.Errorf("it is %+v", im)
	}
	if status := w.get("review", url.Values{"kind": {"all"}}, nil); status != http.StatusBadRequest {
		t.Errorf("an unknown kind: status %d", status)
	}
}

// Images without features, and blind answers, have no review, and the page says why.
func TestNoReview(t *testing.T) {
	root := images(t, 1, 1)
	d := folder(t, root)
	o := options(t, d, root, t.TempDir(), animals)
	_, address := serve(t, o)
	for _, kind := range []string{"suspicious", "duplicates"} {
		if v := (window{t, address, "w"}).review(kind); v.Why == "" || len(v.Items) != 0 {
			t.Errorf("%s: %+v", kind, v)
		}
	}
}

// Answers are listed by class.
func TestListOfAClass(t *testing.T) {
	root := images(t, 2, 2)
	d := folder(t, root)
	o := options(t, d, root, t.TempDir(), animals)
	_, address := serve(t, o)
	w := window{t, address, "w"}
	for i, v := 0, w.view(); i < 10; i++ {
		v = w.say(v, "label", animals[i%3])
	}
	var list struct {
		Items []struct{ Current string }
		Next  int64
	}
	seen := 0
	for args := (url.Values{"state": {"labelled"}, "n": {"2"}, "class": {"ant"}}); ; args.Set("from", fmt.Sprint(list.Next)) {
		list.Items, list.Next = nil, 0
		if status := w.get("list", args, &list); status != http.StatusOK {
			t.Fatal(status)
		}
		for _, it := range list.Items {
			if seen++; it.Current != "ant" {
				t.Errorf("among the ants is %q", it.Current)
			}
		}
		if list.Next == 0 {
			break
		}
	}
	if seen != 4 {
		t.Errorf("%d ants, want 4", seen)
	}
	if status := w.get("list", url.Values{"state": {"labelled"}, "n": {"2"}, "class": {"yak"}}, nil); status != http.StatusBadRequest {
		t.Errorf("a class that there is not: status %d", status)
	}
}
