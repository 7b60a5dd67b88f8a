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
	"github.com/ledg-go/ledg/datasets"
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
func export(cmd *cobra.Command, exports []string, f predict.FilesOptions, s predict.Summary, by string) error {
	if len(exports) == 0 {
		return nil
	}
	root := filepath.Clean(f.Images[0])
	var ids []string
	for _, u := range s.Images {
		rel, err := filepath.Rel(root, u.Name)
		if err != nil {
			return err
		}
		ids = append(ids, filepath.ToSlash(rel))
	}
	times, err := datasets.CaptureTimes(cmd.Context(), os.DirFS(root), ids, nil)
	if err != nil {
		return err
	}
	begin, end := make(map[string]time.Time), make(map[string]time.Time)
	for i, u := range s.Images {
		if t, ok := begin[u.Event]; !ok || times[i].Before(t) {
			begin[u.Event] = times[i]
		}
		if times[i].After(end[u.Event]) {
			end[u.Event] = times[i]
		}
	}
	var images []observations.Image
	for i, u := range s.Images {
		if u.Detected == nil && len(u.Items) == 0 { // no image
			continue
		}
		images = append(images, observations.Image{Path: ids[i], Class: u.Class, Probability: u.Probability, Count: u.Count, Items: u.Items, Event: u.Event, Time: times[i],
			Start: begin[u.Event], End: end[u.Event], Detected: u.Detected})
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
