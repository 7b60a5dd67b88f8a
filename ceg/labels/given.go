package labels

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ledg-go/ledg/datasets"
)

// ReadFile reads labels from a file: a ledger, of which the classes that hold are
// taken, or a list that datasets.ReadLabels reads.
func ReadFile(path string) ([]datasets.Label, error) {
	if is, err := isLedger(path); err != nil {
		return nil, err
	} else if !is {
		return datasets.ReadLabels(path)
	}
	dir, name := filepath.Split(path)
	s, _, err := Read(os.DirFS(filepath.Clean(dir)), name, nil, Options{})
	if err != nil {
		return nil, err
	}
	var list []datasets.Label
	for v := range s.Images() {
		if v.Class != "" {
			list = append(list, datasets.Label{ID: v.ID, Class: v.Class, Where: fmt.Sprintf("%s:%d", path, v.N)})
		}
	}
	return list, nil
}

// isLedger reports whether the first line of a .jsonl file is an event.
func isLedger(path string) (bool, error) {
	if !strings.EqualFold(filepath.Ext(path), ".jsonl") {
		return false, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	text, _ := bufio.NewReader(f).ReadBytes('\n')
	var v struct {
		Event string `json:"event"`
	}
	return json.Unmarshal(text, &v) == nil && v.Event != "", nil
}
