package exchange

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The export in testdata was made by Label Studio 1.23, of tasks that Write had made.
const studioLabels = `north/1.png=dog, "big" & <wild>; north/=cmd|calc.png=cat; north/a b+c&d=#é%41.png=dog, "big" & <wild>; south/1.png==cmd|calc`

func TestLabelStudioExports(t *testing.T) {
	_, d := write(t)
	if got, want := imported(t, LabelStudio, filepath.Join("testdata", "label-studio.json"), d), studioLabels+"; north/2.png skipped"; !equalSets(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func equalSets(a, b string) bool {
	x, y := strings.Split(a, "; "), strings.Split(b, "; ")
	seen := map[string]int{}
	for _, s := range x {
		seen[s]++
	}
	for _, s := range y {
		seen[s]--
	}
	for _, n := range seen {
		if n != 0 {
			return false
		}
	}
	return len(x) == len(y)
}

func TestLabelStudioTasks(t *testing.T) {
	root, d := write(t)
	out := export(t, LabelStudio, queried(t, d, false), root, d, Open, false)
	text := fatal.Get(os.ReadFile(filepath.Join(out, "tasks-001.json")))(t)
	var tasks []task
	if err := json.Unmarshal(text, &tasks); err != nil || len(tasks) != 6 {
		t.Fatalf("%v, %d tasks", err, len(tasks))
	}
	sum, _ := d.Digest(3)
	data := tasks[3].Data
	if data["image"] != "/data/local-files/?d=photos/north/a%20b%2Bc%26d%3D%23%C3%A9%2541.png" || data["ledg_id"] != images[3] || data["ledg_sha256"] != sum ||
		data["ledg_round"] != 2. || data["ledg_rank"] != 4. || data["ledg_s_u"] != 0.5 || StudioPath(data["image"].(string)) != "photos/"+images[3] {
		t.Errorf("data %v", data)
	}
	p := tasks[3].Predictions
	if len(p) != 1 || p[0].Model != "run@3" || p[0].Score != 0.25 || p[0].Result[0].Value.Choices[0] != classes[0] {
		t.Errorf("predictions %+v", p)
	}
	fatal.Says(t, fatal.Err(read(t, LabelStudio, filepath.Join(out, "tasks-001.json"), d)), "there is no label in it; looked for tasks with annotations")
	config, err := os.ReadFile(filepath.Join(out, "config.xml"))
	if err != nil || !strings.Contains(string(config), `<Choice value="dog, &#34;big&#34; &amp; &lt;wild&gt;" hotkey="2"/>`) {
		t.Errorf("%v, config %s", err, config)
	}
}

// Shapes that other projects and versions give.
func TestLabelStudioShapes(t *testing.T) {
	_, d := write(t)
	file := filepath.Join(t.TempDir(), "export")
	const full = `{"id":7,"data":{"image":"/data/local-files/?d=photos%%2Fnorth/1.png"%s},"annotations":[%s]}`
	annotation := func(class, by, at string) string {
		return fmt.Sprintf(`{"id":1,"completed_by":%s,"was_cancelled":false,"lead_time":2.5,"created_at":"2026-01-01T00:00:00Z","updated_at":"%s","result":[{"type":"choices","from_name":"c","to_name":"i","value":{"choices":[%q]}}]}`, by, at, class)
	}
	for _, c := range []struct{ text, want string }{
		{"[" + fmt.Sprintf(full, "", annotation("cat", "3", "2026-01-02T00:00:00Z")) + "]", "north/1.png=cat"},
		// The newest annotation counts, wherever it stands.
		{"[" + fmt.Sprintf(full, "", annotation("=cmd|calc", "3", "2026-01-03T00:00:00Z")+","+annotation("cat", "3", "2026-01-02T00:00:00Z")) + "]", "north/1.png==cmd|calc"},
		{"[" + fmt.Sprintf(full, "", annotation("cat", `{"id":3,"email":"a@b.c"}`, "2026-01-02T00:00:00Z")+","+annotation("=cmd|calc", "4", "2026-01-02T01:00:00Z")) + "]", "north/1.png==cmd|calc"},
		{"[" + fmt.Sprintf(full, `,"ledg_id":"south/1.png"`, annotation("cat", "3", "2026-01-02T00:00:00Z")) + "]", "south/1.png=cat"},
	} {
		fatal.If(t, os.WriteFile(file, []byte(c.text), 0o666))
		if got := imported(t, LabelStudio, file, d); got != c.want {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"[\n" + fmt.Sprintf(full, "", "") + ",\n" + fmt.Sprintf(full, "", annotation("cow", "3", "2026-01-02T00:00:00Z")) + "\n]", ` (task 2 of the file): class "cow" is none of`},
		{"[" + fmt.Sprintf(full, `,"ledg_id":"../x"`, annotation("cat", "3", "2026-01-02T00:00:00Z")) + "]", ""},
		{`[{"annotations":[{"result":[]}]}]`, "has 0 choices"},
		{`[{"annotations":[{"updated_at":"x"}]}]`, `the time is "x"`},
		{`[{"annotations":[{"result":[{"type":"choices","value":{"choices":["cat","dog"]}}]}]}]`, "has 2 choices, want one: cat, dog"},
		{"[" + fmt.Sprintf(full, "", "") + "]", "there is no label in it; looked for tasks with annotations that choose a class"},
		{`[{"image":"/data/upload/1/north/1.png","id":1,"annotator":null}]`, "there is no label in it"},
		{`{"id":1}`, "want a JSON array of tasks"},
		{`[{"id":1,"data":{}},{"id":2,"data":"x"}]`, " (task 2 of the file): its data (string) is not taken"},
		{"[{]", "invalid character"},
		{`[{"id":1}`, "unexpected end of JSON input"},
		{"id,label\nx,cat\n", "as Label Studio exports them as JSON"},
	} {
		fatal.If(t, os.WriteFile(file, []byte(c.text), 0o666))
		_, err := read(t, LabelStudio, file, d)
		if c.want == "" && err == nil {
			continue // an unknown ID, but a path that tells
		}
		if err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.text, err, c.want)
		}
	}
}
