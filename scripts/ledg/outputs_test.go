package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// No output replaces what ledg keeps, what people gave, or what the command reads.
func TestOutputs(t *testing.T) {
	dir := t.TempDir()
	const event = `{"n":1,"event":"labelled","id":"a/1.png","class":"cat","act":1,"at":"2026-01-01T00:00:00Z"}` + "\n"
	for name, text := range map[string]string{
		"photos/labels.jsonl": event, "old.jsonl": event, "rows.jsonl": `{"path":"a"}` + "\n", "photos/a/1.png": "\x89PNG\r\n\x1a\n", "figure.png": "\x89PNG\r\n\x1a\n",
		"f.safetensors": "x", "run/config.json": "{}", "run/records.jsonl": "", "run/predictions.csv": "path\n", "site/site.json": "{}", "truth.csv": "file;label\na;b\n", "truth.jsonl": `{"id":"a","label":"b"}`, "p.jsonl": `{"path":"a","class":"b","probability":1}`, "p.csv": "path,class,probability\n", "photos/labels.csv": "x", "model/config.json": "{}",
		"run/local.json": `{"root":` + quoted(filepath.Join(dir, "photos")) + `,"splits_dir":"","labels":` + quoted(filepath.Join(dir, "photos/labels.csv")) + `}`,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		fatal.If(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for line, want := range map[string]string{
		"predict run --images new --out photos/labels.jsonl":                       "holds the labels that people give",
		"predict run --images new --out new/labels.jsonl":                          "holds the labels that people give",
		"predict run --images new --out old.jsonl":                                 "it holds labels that people gave",
		"predict run --images new --out run/queries.csv":                           "it is a file of run itself",
		"predict run --images new --out run/Records.jsonl":                         "it is a file of run itself",
		"predict run --images new --out site/predictions.csv":                      "it is a file of site itself",
		"predict run --images new --out photos/labels.csv":                         "it is read by this command, or by a run that it names",
		"export run --out run/checkpoint.safetensors":                              "it is a file of run itself",
		"embed --root photos --out run/features.safetensors":                       "it is a file of run itself",
		"query --pool f.safetensors -n 3 --out f.safetensors":                      "it is read by this command",
		"figure curves --dir run --out photos/a/1.png":                             "it is an image in ",
		"label export run --format csv --out run/queries.csv":                      "it is a file of run itself",
		"merge photos/labels.jsonl":                                                "OUT photos/labels.jsonl",
		"predict run --images new --out truth.csv":                                 "it is a table of labels",
		"predict run --images new --out truth.jsonl":                               "it is a table of labels",
		"predict run --images new --out p.jsonl":                                   "",
		"predict run --images new --out p.csv":                                     "",
		"data groups --dataset folder --root photos --labels truth.csv":            "",
		"predict run --images new --out run/predictions.csv":                       "",
		"predict run --images new --out rows.jsonl":                                "",
		"predict run --images new --out model/queries.csv":                         "",
		"figure curves --dir run --out figure.png":                                 "",
		"data groups --dataset folder --root photos --labels g.csv --out g.csv":    "",
		"embed --dataset folder --root photos --out f.safetensors":                 "",
		"train --dataset folder --root photos --classes a,b --target x --out run2": "",
	} {
		root := newRootCommand()
		cmd, args, err := root.Find(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		t.Chdir(dir)
		err = checkOutputs(cmd, cmd.Flags().Args())
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
	refused(t, "--out photos/labels.jsonl: a file of this name holds the labels that people give", 2, dir, "predict", "run", "--images", "new", "--out", "photos/labels.jsonl")
}

func quoted(path string) string { return `"` + strings.ReplaceAll(path, `\`, `\\`) + `"` }
