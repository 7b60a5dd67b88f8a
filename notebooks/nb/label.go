package nb

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
)

// Label shows the labelling page and returns its address. Arguments are as for `ledg label`: the
// folder of a run that waits for labels, or --dataset, --root and --classes for a folder before
// any run.
//
// The server is a process of its own. It survives the cell, the kernel and Jupyter, until
// EndLabel or `ledg label --stop`; the same call shows it again. The page appears in the cell if
// Jupyter runs on this machine; the address can also be opened in another window.
func Label(args ...string) (address string) {
	address = strings.TrimSpace(ledg(append([]string{"label", "--detach"}, args...)...))
	link := html.EscapeString(address)
	showLabel(args, fmt.Sprintf(`<iframe src="%s" title="Label images" style="width: 100%%; height: 46rem; border: 0; border-radius: 8px"></iframe>
<p><a href="%s" target="_blank" rel="noopener">Open the page in its own window</a></p>`, link, link))
	return address
}

// EndLabel stops the server that Label has started with these arguments and replaces the page by
// a sentence. Labels are already saved.
func EndLabel(args ...string) {
	ledg(append([]string{"label", "--stop"}, args...)...)
	showLabel(args, "<p>The labelling page is closed. Its labels are in labels.jsonl. Run the cell to open it again.</p>")
}

// showLabel shows the output of Label, or changes it.
func showLabel(args []string, text string) {
	if gonbui.IsNotebook {
		gonbui.UpdateHTML(fmt.Sprintf("ledg-label-%x", strings.Join(args, "\x00")), text)
		gonbui.Sync()
	}
}

// ledg runs the command, built from the kernel's checkout, and returns what it prints.
func ledg(args ...string) string {
	path := filepath.Join(Must(os.UserCacheDir()), "ledg", "notebooks", "ledg")
	Check(os.MkdirAll(filepath.Dir(path), 0o777))
	build := exec.Command("go", "build", "-o", path, "github.com/ledg-go/ledg/scripts/ledg")
	build.Dir = os.Getenv(checkout)
	if out, err := build.CombinedOutput(); err != nil {
		Check(fmt.Errorf("the labelling page needs the program ledg, built in %s=%q: %w: %s", checkout, build.Dir, err, oneLine(out)))
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		Check(fmt.Errorf("ledg %s: %w: %s", args[0], err, oneLine(stderr.Bytes())))
	}
	return stdout.String()
}

func oneLine(text []byte) string { return strings.Join(strings.Fields(string(text)), " ") }

// Annotate labels all open images of a labelling page through its server, in place of a person,
// for tests and demonstrations. class returns the class of an image by ID, or "" to skip it. It
// returns the number of labels.
func Annotate(address string, class func(id string) string) (labelled int) {
	const client = "program"
	for {
		var view struct{ Question *struct{ ID, Rev string } }
		decode(Must(http.Get(address+"view?client="+client)), &view)
		q := view.Question
		if q == nil {
			return labelled
		}
		act := map[string]string{"client": client, "op": "label", "id": q.ID, "rev": q.Rev, "class": class(q.ID)}
		if act["class"] == "" {
			act["op"] = "skip"
		} else {
			labelled++
		}
		decode(Must(http.Post(address+"act", "application/json", bytes.NewReader(Must(json.Marshal(act))))), &struct{}{})
	}
}

// decode reads the JSON of a reply.
func decode(reply *http.Response, into any) {
	defer reply.Body.Close()
	data := Must(io.ReadAll(reply.Body))
	if reply.StatusCode != http.StatusOK {
		Check(fmt.Errorf("the labelling server says %s: %s", reply.Status, data))
	}
	Check(json.Unmarshal(data, into))
}
