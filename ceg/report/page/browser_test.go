//go:build browser

package page_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// browser starts a headless Chromium and returns the context of its window.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("no browser is started with -short")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no Chromium here to look at the page with")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.WSURLReadTimeout(2*time.Minute))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(func() { chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 800)); err != nil { // which starts it
		t.Fatal(err)
	}
	return ctx
}

// cut lists what does not fit into the page's width, or into a box that would have to be
// scrolled.
const cut = `[...document.querySelectorAll("body *")].filter(e => e.checkVisibility() && !e.closest("svg") &&
	(e.getBoundingClientRect().right > innerWidth + 0.5 || e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX != "visible"))
	.map(e => e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 60)).join("\n")`

func show(t *testing.T, ctx context.Context, file string, width int64, scheme string) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
		t.Fatal(err)
	}
}

// Nothing of a new site's report is cut off on a phone, in the light and in the dark.
func TestNewSiteIsNotCutOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(newSite(t)), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx := browser(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			show(t, ctx, file, width, scheme)
			if text, err := chromedp.Run(ctx, chromedp.Evaluate[string](cut)); err != nil || text != "" {
				t.Errorf("at %d pixels, %s: cut off (%v):\n%s", width, scheme, err, text)
			}
		}
	}
}
