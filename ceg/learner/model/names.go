package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/child"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/ceg/nets/tokenizer"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// textFamily is how a family of networks of images and texts wants its texts. The templates are those of
// the networks' authors.
type textFamily struct {
	name, template string
	context        int
	lower          bool
}

var (
	clipTexts    = textFamily{name: "clip", template: "a photo of a {}.", context: 77}
	bioclipTexts = textFamily{name: "bioclip", template: "a photo of {}.", context: 77} // of taxonomic names
	siglipTexts  = textFamily{name: "siglip", template: "this is a photo of {}.", context: 64, lower: true}
)

// Slot is the place of a class's words in a template.
const Slot = "{}"

// tokenizerFiles are what is read of a network's folder, or of the one above, beside its text tower.
var tokenizerFiles = []string{"tokenizer.json", "tokenizer_config.json", "config.json", preprocess.OpenCLIPFile}

// TextTower is the text tower beside an image network, with its tokenizer.
type TextTower struct {
	tower        *imported.Text
	tokens       *tokenizer.Tokenizer
	digest       string // of the tokenizer
	family       textFamily
	context, pad int
	// By says what its family was recognised by.
	By string
}

// OpenTextTower finds and reads the text tower of an image network: [imported.TextFile], with
// tokenizer.json in the same folder or the one above. A network without a text tower is an error, and
// so is a tokenizer that does not fit it.
func OpenTextTower(network string) (t *TextTower, err error) {
	t = &TextTower{}
	path := imported.TextFile(network)
	if t.tower, err = imported.OpenText(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no text tower: there is no %s; names need a network of images and texts, such as CLIP or SigLIP", network, path)
	} else if err != nil {
		return nil, err
	}
	var c struct {
		Name string  `json:"_name_or_path"`
		Most float64 `json:"model_max_length"`
		Pad  any     `json:"pad_token"`
		Text struct {
			Positions int `json:"max_position_embeddings"`
		} `json:"text_config"`
		OpenCLIP struct {
			Text struct {
				Context int `json:"context_length"`
			} `json:"text_cfg"`
		} `json:"model_cfg"`
	}
	var at string
	for i, name := range tokenizerFiles {
		for _, dir := range []string{filepath.Dir(path), filepath.Join(filepath.Dir(path), "..")} {
			b, err := regular.Read(filepath.Join(dir, name), 1<<28)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err == nil && i == 0 {
				sum := sha256.Sum256(b)
				at, t.digest = filepath.Join(dir, name), hex.EncodeToString(sum[:])
				t.tokens, err = tokenizer.Parse(b)
			} else if err == nil {
				err = json.Unmarshal(b, &c)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Join(dir, name), err)
			}
			break
		}
		if t.tokens == nil {
			return nil, fmt.Errorf("%s has no tokenizer: there is no %s beside it or in the folder above", path, name)
		}
	}
	if t.family, t.By = siglipTexts, "its tokenizer"; t.tokens.CLIP {
		t.family = clipTexts
		for _, name := range []string{path, c.Name} { // BioCLIP's tokenizer and architecture are CLIP's
			if strings.Contains(strings.ToLower(name), bioclipTexts.name) {
				t.family, t.By = bioclipTexts, "the name "+name
			}
		}
	}
	const longest = 1 << 12
	if !(c.Most > 0 && c.Most < longest) {
		c.Most = 0 // transformers writes 1e30 for any
	}
	if t.context = cmp.Or(t.tower.Context, c.Text.Positions, c.OpenCLIP.Text.Context, int(c.Most), t.family.context); t.context > longest {
		return nil, fmt.Errorf("%s takes texts of %d tokens, want at most %d", path, t.context, longest)
	}
	if size, rows := t.tokens.Size(), t.tower.Rows; rows > 0 && (size > rows || rows >= size+1024) {
		return nil, fmt.Errorf("%s has %d tokens, but %s knows %d: it is the tokenizer of another network", at, size, path, rows)
	}
	name, _ := c.Pad.(string)
	if m, ok := c.Pad.(map[string]any); ok {
		name, _ = m["content"].(string)
	}
	var ok bool
	if t.pad, ok = t.tokens.Pad(name); t.tokens.CLIP { // what follows its end, the largest token, is not seen
		t.pad = 0
	} else if !ok {
		return nil, fmt.Errorf("%s and tokenizer_config.json do not say which token fills a text up", at)
	}
	return t, nil
}

// Embed computes the embeddings of classes, on the backend that spec names: of a class with some words,
// the mean over templates of embeddings of length 1, at length 1. Without templates it is the family's.
// A template without a place for words, a text that is too long and two classes with one embedding
// are errors.
func (t *TextTower) Embed(ctx context.Context, spec string, classes, words, templates []string) (*datasets.ClassEmbeddings, error) {
	if len(templates) == 0 {
		templates = []string{t.family.template}
	}
	n := &datasets.ClassEmbeddings{Network: filepath.Base(t.tower.Path), Digest: t.tower.Digest, Tokenizer: t.digest, Family: t.family.name, Templates: templates, Classes: classes, Words: words}
	var texts [][]int64
	for i, w := range words {
		for _, template := range templates {
			if !strings.Contains(template, Slot) {
				return nil, fmt.Errorf("template %q has no %s, the place of a class's words", template, Slot)
			}
			text := strings.ReplaceAll(template, Slot, w)
			row, cut := t.encode(text)
			if cut {
				return nil, fmt.Errorf("class %q: %q has more tokens than the %d that the network reads: give it shorter words", classes[i], text, t.context)
			}
			texts = append(texts, row)
		}
	}
	values, err := t.run(ctx, spec, texts)
	if err != nil {
		return nil, err
	}
	for i := range words {
		sum := make([]float32, len(values[0]))
		for _, v := range values[i*len(templates) : (i+1)*len(templates)] {
			if NotFinite(v, len(v)) >= 0 || !unit(v) {
				return nil, fmt.Errorf("%s makes an embedding of class %q that is no direction", t.tower.Path, classes[i])
			}
			for j, x := range v {
				sum[j] += x
			}
		}
		unit(sum)
		for k, other := range n.Values {
			largest := 0.0
			for j, x := range sum {
				largest = max(largest, math.Abs(float64(x-other[j])))
			}
			if largest < 1e-6 {
				return nil, fmt.Errorf("classes %q and %q have one embedding, of %q and %q: give one of them other words, as in --classes '%s=OTHER WORDS'", classes[k], classes[i], words[k], words[i], classes[i])
			}
		}
		n.Values = append(n.Values, sum)
	}
	return n, nil
}

// encode returns the tokens of a text, filled up; cut is true for a text with more.
func (t *TextTower) encode(text string) (row []int64, cut bool) {
	if t.family.lower {
		text = cases.Lower(language.Und).String(text) // as Python's lower
	}
	ids, cut := t.tokens.Encode(text, t.context)
	for _, id := range ids {
		row = append(row, int64(id))
	}
	for len(row) < t.context {
		row = append(row, int64(t.pad))
	}
	return row, cut
}

// unit divides a vector by its length, if it has one.
func unit(v []float32) bool {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i, x := range v {
		v[i] = float32(float64(x) / math.Sqrt(sum))
	}
	return sum > 0
}

// CheckNames returns an error if features of images are of another length than class embeddings.
func CheckNames(dim int, x *Extractor, o datasets.Origin) error {
	if x.FeatureDim() != dim {
		return fmt.Errorf("%s has features of %d numbers and class embeddings of %d: choose the output that is projected to the texts' space, such as --output image_embeds", o.Weights, x.FeatureDim(), dim)
	}
	return nil
}

// toRead are texts for a text tower.
type toRead = struct {
	Backend, Path string
	Context       int
	Texts         [][]int64
}

// Texts embeds texts.
func (*untrusted) Texts(a toRead, values *[][]float32) error {
	t, err := imported.OpenText(a.Path)
	if err != nil {
		return err
	}
	rt, _, err := engine.OpenRuntime(a.Backend)
	if err != nil {
		return err
	}
	var on engine.Backend
	if rt == nil {
		if on, err = (engine.Work{Exact: true}).Open(a.Backend); err != nil {
			return err
		}
		defer on.Close()
	}
	run, done, err := t.Exec(on, rt, runtime.GOMAXPROCS(0), a.Context)
	if err != nil {
		return err
	}
	defer done()
	for _, text := range a.Texts {
		v, err := run(text)
		if err != nil {
			return err
		}
		*values = append(*values, v)
	}
	return nil
}

// run embeds texts in a copy of this program, with limits.
func (t *TextTower) run(ctx context.Context, spec string, texts [][]int64) (values [][]float32, err error) {
	a := toRead{spec, t.tower.Path, t.context, texts}
	p, err := child.Start(ctx, service, leastMemory+8*t.tower.Length)
	if os.Getenv(LimitsVariable) == "off" || errors.Is(err, child.ErrCannot) {
		if err == nil {
			p.Close()
		}
		err = new(untrusted).Texts(a, &values)
		return values, err
	}
	if err != nil {
		return nil, err
	}
	defer p.Close()
	weights := float64(t.tower.Length) / 4
	within := leastTime + time.Duration(min(weights/5e6+slow*float64(len(texts))*weights*float64(t.context)/1e9, 1e6)*float64(time.Second))
	if err := p.Call("Texts", within, a, &values); err != nil {
		return nil, named(ctx, t.tower.Path, err)
	}
	return values, nil
}
