package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// folder has the tokenizers and the reference's tokens; LEDG_TEST_TOKENIZERS may name one with full vocabularies.
func folder() string {
	if dir := os.Getenv("LEDG_TEST_TOKENIZERS"); dir != "" {
		return dir
	}
	return "testdata"
}

// Tokens are those of Hugging Face's tokenizers, also of texts that are cut.
func TestGolden(t *testing.T) {
	var golden map[string]json.RawMessage
	var texts []string
	var context map[string]int
	if err := json.Unmarshal(fatal.Get(os.ReadFile(filepath.Join(folder(), "golden.json")))(t), &golden); err != nil {
		t.Fatal(err)
	}
	if json.Unmarshal(golden["texts"], &texts) != nil || json.Unmarshal(golden["context"], &context) != nil {
		t.Fatal("golden.json has no texts")
	}
	for name, most := range context {
		t.Run(name, func(t *testing.T) {
			var want [][]int
			if err := json.Unmarshal(golden[name], &want); err != nil {
				t.Fatal(err)
			}
			x := fatal.Get(Parse(fatal.Get(os.ReadFile(filepath.Join(folder(), name+".json")))(t)))(t)
			if x.CLIP != (name == "clip") {
				t.Errorf("CLIP: %v", x.CLIP)
			}
			for i, text := range texts {
				got, cut := x.Encode(text, most)
				if !slices.Equal(got, want[i]) {
					t.Errorf("%.60q: got %v, want %v", text, got, want[i])
				}
				if all, _ := x.Encode(text, 0); cut != (len(all) > most) || slices.Max(got) >= x.Size() {
					t.Errorf("%.60q: cut %v of %d tokens, size %d", text, cut, len(all), x.Size())
				}
			}
		})
	}
}

// A part that is not supported is an error that names it, and so is a file that is no tokenizer.
func TestBad(t *testing.T) {
	model := `"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}`
	for text, want := range map[string]string{
		"no JSON":                          "no tokenizer",
		`{}`:                               `its model is ""`,
		`{"model": {"type": "WordPiece"}}`: `its model is "WordPiece"`,
		`{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}}`:                                                                `merge of "a" and "b"`,
		`{"model": {"type": "BPE", "vocab": [], "merges": []}}`:                                                                           "vocabulary is no map",
		`{"model": {"type": "Unigram", "vocab": [["a"]]}}`:                                                                                "piece 0",
		`{"normalizer": {"type": "Nmt"}, ` + model + `}`:                                                                                  `normalizer "Nmt"`,
		`{"normalizer": {"type": "Precompiled", "precompiled_charsmap": "/wAAAA=="}, ` + model + `}`:                                      "map of characters",
		`{"pre_tokenizer": {"type": "Digits"}, ` + model + `}`:                                                                            `pre-tokenizer "Digits"`,
		`{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\s+(?!\\S)"}, "behavior": "Removed", "invert": true}, ` + model + `}`: "not supported",
		`{"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Removed", "invert": true}, ` + model + `}`:        "not supported",
		`{"post_processor": {"type": "RobertaProcessing", "sep": ["x"]}, ` + model + `}`:                                                  "special token",
	} {
		fatal.Says(t, fatal.Err(Parse([]byte(text))), want)
	}
}

// A token that is no piece of the model is none of its words.
func TestTokenOfNoPiece(t *testing.T) {
	x := fatal.Get(Parse([]byte(`{"normalizer": {"type": "Lowercase"}, "added_tokens": [{"id": -3, "content": "b"}], "model": {"type": "Unigram", "unk_id": 0, "vocab": [["a", -1]]}}`)))(t)
	if got, _ := x.Encode("aB", 0); !slices.Equal(got, []int{0, 0}) {
		t.Errorf("tokens %v", got)
	}
}

// Hostile files and texts end in an error or in tokens.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"siglip", "gemma"} {
		b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "a photo of É 🦊")
	}
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		x, err := Parse(b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %v", err)
			}
			return
		}
		x.Encode(text, 16)
	})
}
