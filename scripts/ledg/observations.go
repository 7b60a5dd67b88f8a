package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/predict/observations"
)

// checkExports validates --export before anything is computed.
func checkExports(exports []string, f predict.FilesOptions) error {
	for _, text := range exports {
		format, out, ok := strings.Cut(text, "=")
		if !ok || out == "" || !slices.Contains(observations.Formats(), observations.Format(format)) {
			return usagef("--export %s: want FORMAT=FILE, with a format of %v", text, observations.Formats())
		}
		if info, err := os.Stat(f.Images[0]); len(f.Images) != 1 || err != nil || !info.IsDir() {
			return usagef("--export %s: paths are written from the folder of the images: want one folder as --images", text)
		}
		if f.Boxes == nil && observations.Format(format) == observations.MegaDetector {
			return usagef("--export %s: MegaDetector's format is of boxes: give --boxes", text)
		}
	}
	return nil
}

// export writes predictions in the formats of other tools.
func export(cmd *cobra.Command, exports []string, f predict.FilesOptions, s predict.Summary, times map[string]time.Time, by string) error {
	if len(exports) == 0 {
		return nil
	}
	begin, end := make(map[string]time.Time), make(map[string]time.Time)
	var images []*observations.Unit
	for _, u := range s.Images {
		rel, err := filepath.Rel(f.Images[0], u.Name)
		if err != nil {
			return err
		}
		u.Path, u.Time = filepath.ToSlash(rel), times[u.Name]
		if t, ok := begin[u.Event]; !u.Time.IsZero() && (!ok || u.Time.Before(t)) {
			begin[u.Event] = u.Time
		}
		if u.Time.After(end[u.Event]) {
			end[u.Event] = u.Time
		}
		if u.Detected != nil || len(u.Items) > 0 { // an image
			images = append(images, u)
		}
	}
	for _, u := range images {
		u.Start, u.End = begin[u.Event], end[u.Event]
	}
	said := map[string]bool{}
	for _, text := range exports {
		format, out, _ := strings.Cut(text, "=")
		notes, err := observations.Write(observations.Format(format), out, images, observations.Options{Boxes: f.Boxes, By: by})
		if err != nil {
			return err
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %d images for %s\n", out, len(images), format)
		for _, note := range notes {
			if !said[note] {
				said[note] = true
				fmt.Fprintln(cmd.OutOrStdout(), note)
			}
		}
	}
	return nil
}
