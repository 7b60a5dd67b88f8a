package browsertest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// cut lists what does not fit into the page's width, or into a box that would have to be
// scrolled.
const cut = `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest("svg") &&
	(e.getBoundingClientRect().right > innerWidth + 0.5 || e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX != "visible"))
	.map(e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 60)).join("\n")`

// Nothing of a new site's report is cut off on a phone, in the light and in the dark.
func TestNewSiteIsNotCutOff(t *testing.T) {
	w := browser(t)
	dir := t.TempDir()
	ledg := filepath.Join(dir, "ledg")
	for _, line := range []string{
		"go build -C ../../.. -o " + ledg + " ./scripts/ledg",
		ledg + " data example " + dir + "/try",
		ledg + " train --dataset folder --root " + dir + "/try/photos --labels " + dir + "/try/labels.csv --target home02 --budget 12 --epochs 1 --net smallcnn --set network.width=4 --set data.image_size=16 --out " + dir + "/run",
		ledg + " report " + dir + "/run --out " + dir + "/page.html",
	} {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			w.do(chromedp.EmulateViewport(width, 900))
			w.open(filepath.Join(dir, "page.html"), scheme)
			if text := js[string](w, cut); text != "" {
				t.Errorf("at %d pixels, %s: cut off:\n%s", width, scheme, text)
			}
			if text := js[string](w, "document.body.innerText"); !strings.Contains(text, "a site held out of training") {
				t.Errorf("it is not a new site's: %s", text)
			}
		}
	}
}
