package browsertest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/page"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// animals are names for ten digits, so that keys and names differ.
var animals = []string{"ant", "bear", "cat", "dog", "elk", "fox", "goat", "hare", "ibis", "jay"}

// classOf returns the class of an image by its folder, domain/digit/file.
func classOf(id string) string {
	return animals[filepath.Base(filepath.Dir(filepath.FromSlash(id)))[0]-'0']
}

// keyOf is the key of a class of animals.
func keyOf(class string) string { return string("123456789q"[slices.Index(animals, class)]) }

// images writes perClass drawn digits of each of the first classes digits in every style to
// root/style/digit, and returns root.
func images(t *testing.T, classes, perClass int) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "pictures")
	d, truth, err := datasets.Glyphs(perClass)
	for i := 0; err == nil && i < d.Len(); i++ {
		if truth.Class(i) >= classes {
			continue
		}
		m := fatal.Get(d.Image(i))(t)
		var b bytes.Buffer
		err = png.Encode(&b, m.ToImage())
		save(t, filepath.Join(root, filepath.FromSlash(d.Examples[i].ID)), b.Bytes())
	}
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// save writes a file and its folder.
func save(t *testing.T, file string, data []byte) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a data set.
func open(t *testing.T, name, root string, o datasets.Options) *datasets.Dataset {
	t.Helper()
	o.CacheDir = t.TempDir()
	d, _ := fatal.Get2(datasets.Open(name, root, o))(t)
	return d
}

// folder opens the images in a folder.
func folder(t *testing.T, root string) *datasets.Dataset {
	t.Helper()
	return open(t, "folder", root, datasets.Options{})
}

// options are those of a page that asks about all images.
func options(t *testing.T, d *datasets.Dataset, root, ledger string, classes []string) page.Options {
	t.Helper()
	l := fatal.Get(page.OpenLedger(ledger, d, classes, labels.Newest))(t)
	t.Cleanup(func() { l.Close() })
	return page.Options{Title: "pictures", Data: d, Root: root, Classes: classes, Ledger: l, By: []string{"ann"}, Rest: true, Seed: 1,
		Next: "ledg train --dataset folder --root pictures --target print --labels pictures/labels.jsonl"}
}

// serve serves a page until the test ends, and returns the addresses of its people.
func serve(t *testing.T, o page.Options) (people []string) {
	t.Helper()
	s := fatal.Get(page.New(o))(t)
	h := httptest.NewServer(s)
	t.Cleanup(func() { h.Close(); s.Close() })
	for _, by := range o.By {
		people = append(people, h.URL+s.Path(by))
	}
	return people
}

// ask serves a page, shows it to its first person and returns the first image.
func (w window) ask(o page.Options) (id string) {
	w.t.Helper()
	w.do(chromedp.Navigate(serve(w.t, o)[0]))
	return w.shown("")
}

// shown waits for an image that can be answered, other than before, and returns its ID.
func (w window) shown(before string) (id string) {
	w.t.Helper()
	w.until(fmt.Sprintf(`document.body.dataset.ready === "yes" && !document.body.hasAttribute("aria-busy") && document.getElementById("stage").dataset.id !== %q`, before))
	return js[string](w, `document.getElementById("stage").dataset.id`)
}

// slip is longer than the time in which a second key is taken for a slip.
const slip = 170 * time.Millisecond

// press presses a key, not too soon after the last.
func (w window) press(key string, options ...chromedp.KeyOption) {
	w.t.Helper()
	time.Sleep(slip)
	w.do(chromedp.KeyEvent(key, options...))
}

// state folds the ledger in a folder.
func state(t *testing.T, dir string) *labels.State {
	t.Helper()
	st, note, err := labels.Read(os.DirFS(dir), labels.File, nil, labels.Options{})
	if err != nil || note != "" {
		t.Fatal(err, note)
	}
	return st
}

// vectors opens features of the images in a folder: a direction for each class, and noise.
// Those of second are nearly those of first.
func vectors(t *testing.T, root, first, second string) *datasets.Dataset {
	t.Helper()
	images := folder(t, root)
	r := rand.New(rand.NewPCG(1, 2))
	const dim = 24
	features, domains := make([]float32, images.Len()*dim), make([]int64, images.Len())
	var ids, names []byte
	row := map[string][]float32{}
	for i, e := range images.Examples {
		x := features[i*dim : (i+1)*dim]
		for j := range x {
			x[j] = float32(0.15 * r.NormFloat64())
		}
		x[slices.Index(animals, classOf(e.ID))]++
		row[e.ID], domains[i], ids = x, int64(e.Domain), fmt.Appendf(ids, "%q\n", e.ID)
	}
	for j, v := range row[first] {
		row[second][j] = 1.01 * v
	}
	for _, name := range images.Domains {
		names = fmt.Appendf(names, "%q\n", name)
	}
	origin := fatal.Get(json.Marshal(datasets.Origin{Dataset: "folder", Root: root, Network: "test"}))(t)
	raw := func(v any) []byte {
		return fatal.Get(binary.Append(nil, binary.LittleEndian, v))(t)
	}
	var b bytes.Buffer
	fatal.If(t, safetensors.Write(&b, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float32, Shape: []int{images.Len(), dim}, Data: raw(features)},
		{Name: "domains", DType: safetensors.Int64, Shape: []int{images.Len()}, Data: raw(domains)},
		{Name: "ids", DType: safetensors.Uint8, Shape: []int{len(ids)}, Data: ids},
		{Name: "domain_names", DType: safetensors.Uint8, Shape: []int{len(names)}, Data: names},
	}, map[string]string{datasets.OriginKey: string(origin)}))
	file := filepath.Join(t.TempDir(), "features.safetensors")
	save(t, file, b.Bytes())
	return open(t, datasets.FeaturesFile, file, datasets.Options{})
}

// Environment variables of a test that runs as a server, see TestMain.
const serveRoot, serveLedger = "LEDG_TEST_SERVE_ROOT", "LEDG_TEST_SERVE_LEDGER"

func TestMain(m *testing.M) {
	if root := os.Getenv(serveRoot); root != "" {
		if err := serveFolder(root, os.Getenv(serveLedger)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serveFolder is what a test kills.
func serveFolder(root, ledger string) error {
	d, _, err := datasets.Open("folder", root, datasets.Options{CacheDir: filepath.Join(ledger, "cache")})
	if err != nil {
		return err
	}
	l, err := page.OpenLedger(ledger, d, animals, labels.Newest)
	if err != nil {
		return err
	}
	listener, running, err := page.Listen(l.Path(), page.Running{})
	if err != nil {
		return err
	}
	s, err := page.New(page.Options{Title: "pictures", Data: d, Root: root, Classes: animals, Ledger: l, By: []string{"ann"}, Rest: true, Seed: 1, Running: running})
	if err != nil {
		return err
	}
	fmt.Println(running.Link("ann"))
	if err := s.Serve(context.Background(), listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// child starts this test's program as a server, see TestMain.
func child(t *testing.T, root, ledger, cache string) (kill func(), address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveRoot+"="+root, serveLedger+"="+ledger, "XDG_CACHE_HOME="+cache)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill = func() {
		cmd.Process.Kill() // SIGKILL: nothing of the program runs after it
		cmd.Wait()
	}
	t.Cleanup(kill)
	line := fatal.Get(bufio.NewReader(out).ReadString('\n'))(t)
	return kill, strings.TrimSpace(line)
}
