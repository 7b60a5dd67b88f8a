package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Labels are upfront unless a method or a timing is specified, on glyphs and folders also with a method.
func TestTrainTiming(t *testing.T) {
	photos := t.TempDir()
	for args, want := range map[string]string{
		"--dataset glyphs": "once 1 0",
		"--dataset folder --net smallcnn --root " + photos:  "once 1 0",
		"--dataset glyphs --timing published":               "published 0.5 5",
		"--dataset glyphs --timing early":                   "early 0.25 5",
		"--dataset glyphs --preset authors":                 "published 0.5 5",
		"--dataset glyphs --initial-share 0.3":              "published 0.3 5",
		"--dataset pacs --root " + photos:                   "once 1 0",
		"--dataset pacs --method ceg --root " + photos:      "published 0.5 6",
		"--dataset pacs --method fixmatch --root " + photos: "once 1 0",
		"--dataset pacs --timing once --root " + photos:     "once 1 0",
	} {
		stdout, stderr, status := call(t, photos, append([]string{"train", "--target", "x", "--print-config"}, strings.Fields(args)...)...)
		var c config.Config
		if err := result.Decode([]byte(stdout), &c); status != 0 || err != nil {
			t.Fatalf("%s: status %d, %s, %v", args, status, stderr, err)
		}
		if got := fmt.Sprint(c.Schedule.Timing, " ", c.Exploration.InitialShare, " ", len(c.Schedule.QueryAfter)); got != want {
			t.Errorf("%s: timing, initial share and queries are %s, want %s", args, got, want)
		}
	}
}
