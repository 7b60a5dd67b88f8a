package exchange

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
)

// Label Studio accepts 250,000 tasks or 50 MB in a file; files stay well below both.
const (
	studioTasks = 50_000
	studioBytes = 40 << 20
	// studioAdvice is the maximum number of tasks in a project that Label Studio's documentation
	// recommends.
	studioAdvice = 100_000
)

// control and image are the names of Choices and Image in the labelling config.
const (
	control = "label"
	picture = "image"
)

// keys are the data keys that are written and come back in every export.
const (
	keyID     = "ledg_id"
	keyDigest = "ledg_sha256"
)

type task struct {
	Data        map[string]any `json:"data"`
	Predictions []prediction   `json:"predictions,omitempty"`
}

type prediction struct {
	Model  string   `json:"model_version"`
	Score  float64  `json:"score"`
	Result []choice `json:"result"`
}

type choice struct {
	ID    string      `json:"id,omitempty"`
	From  string      `json:"from_name"`
	To    string      `json:"to_name"`
	Type  string      `json:"type"`
	Value choiceValue `json:"value"`
}

type choiceValue struct {
	Choices []string `json:"choices"`
}

// noneChoice is the choice of an image of none of the classes.
const noneChoice = "None of these"

// StudioConfig returns the labelling config of a Label Studio project: a choice among the
// classes, with the keys 1 to 9, 0, q, w, e, ..., and none of them.
func StudioConfig(classes []string) string {
	var b strings.Builder
	b.WriteString("<View>\n  <Image name=\"" + picture + "\" value=\"$" + picture + "\"/>\n  <Choices name=\"" + control + "\" toName=\"" + picture +
		"\" choice=\"single\" required=\"true\" showInline=\"true\">\n")
	const hotkeys = "1234567890qwertyuiopasdfghjklzxcvbnm"
	for i, class := range classes {
		b.WriteString(`    <Choice value="`)
		xml.EscapeText(&b, []byte(class))
		b.WriteString(`"`)
		if i < len(hotkeys) {
			fmt.Fprintf(&b, ` hotkey="%c"`, hotkeys[i])
		}
		b.WriteString("/>\n")
	}
	if !slices.Contains(classes, string(labels.None)) {
		b.WriteString(`    <Choice value="` + noneChoice + `"/>` + "\n")
	}
	b.WriteString("  </Choices>\n</View>\n")
	return b.String()
}

// writeLabelStudio writes config.xml and tasks-NNN.json.
func writeLabelStudio(ctx context.Context, dir string, items []Item, o Options) ([]string, error) {
	if err := os.WriteFile(filepath.Join(dir, "config.xml"), []byte(StudioConfig(o.Classes)), 0o666); err != nil {
		return nil, err
	}
	files, inFile := 0, 0
	var text bytes.Buffer
	flush := func() error {
		if inFile == 0 {
			return nil
		}
		files++
		text.WriteString("\n]\n")
		err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("tasks-%03d.json", files)), text.Bytes(), 0o666)
		text.Reset()
		inFile = 0
		return err
	}
	for i, v := range items {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		t, err := studioTask(v, i+1, o)
		if err != nil {
			return nil, err
		}
		line, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		if inFile == studioTasks || text.Len()+len(line) > studioBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		if inFile == 0 {
			text.WriteString("[\n")
		} else {
			text.WriteString(",\n")
		}
		text.Write(line)
		inFile++
	}
	if err := flush(); err != nil {
		return nil, err
	}
	notes := []string{"make a project with the labelling interface of config.xml and import tasks-*.json; sort by ledg_rank to answer first what is asked first"}
	if o.ImageURL == "" {
		notes = append(notes, "start Label Studio with LABEL_STUDIO_LOCAL_FILES_SERVING_ENABLED=true and LABEL_STUDIO_LOCAL_FILES_DOCUMENT_ROOT, the folder that has "+
			strconv.Quote(o.ImageFolder)+" in it; add that folder to the project as a local source storage, but do not sync it: each file would become a second task")
	}
	if len(items) > studioAdvice {
		notes = append(notes, fmt.Sprintf("%d tasks are more than the %d that a project of Label Studio should have: divide the files among projects", len(items), studioAdvice))
	}
	return notes, nil
}

func studioTask(v Item, rank int, o Options) (task, error) {
	sum, err := o.digest(v)
	if err != nil {
		return task{}, err
	}
	at := o.ImageURL
	if at == "" {
		at = "/data/local-files/?d=" + escapePath(path.Join(filepath.ToSlash(o.ImageFolder), v.ID))
	} else {
		at += escapePath(v.ID)
	}
	t := task{Data: map[string]any{picture: at, keyID: v.ID, keyDigest: sum, "ledg_domain": v.Domain, "ledg_rank": rank}}
	if v.Round != labels.NoRound {
		t.Data["ledg_round"] = v.Round
	}
	say := func(model, class string, score float64) {
		t.Predictions = []prediction{{model, score, []choice{{fmt.Sprintf("p%d", rank), control, picture, "choices", choiceValue{[]string{class}}}}}}
	}
	if a := v.QueryInfo; a != nil {
		for name, score := range a.Scores {
			t.Data["ledg_"+name] = score
		}
		if a.Predicted != "" {
			say(a.Model, a.Predicted, a.Probability)
		}
	}
	switch {
	case v.Class != "":
		say("present label", v.Class, 1)
	case v.Status == labels.IsNone:
		say("present label", noneChoice, 1)
	}
	return t, nil
}

// escapePath escapes a path for a URL's query or path.
func escapePath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(part), "+", "%20")
	}
	return strings.Join(parts, "/")
}
