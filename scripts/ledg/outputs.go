package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/artifact"
	"github.com/ledg-go/ledg/ceg/rundir/scaler"
	"github.com/ledg-go/ledg/ceg/site"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
	"github.com/ledg-go/ledg/datasets/sheet"
)

// ownFiles are the names of the files that ledg keeps in the folders of runs and sites, by one that
// every such folder has.
var ownFiles = map[string][]string{
	result.ConfigFile: {result.ConfigFile, result.RecordsFile, result.QueriesFile, result.ResultFile, result.DoneFile, result.MapFile, result.ScoresFile,
		result.CalibrationFile, result.PlaceFile, result.FeaturesFile, result.LeftOutFile, labels.UserLabelsFile, labels.BegunFile,
		artifact.File, checkpoint.File, scaler.File},
	site.File: {site.File, site.AdaptedFile, site.ReportFile, site.PredictionsFile, site.SeenFile, labels.UserLabelsFile},
}

// checkOutputs returns an error if an output of a command would replace what ledg keeps or reads: a
// ledger, a file of a run or a site, an image, or an input of the command or of a run that it names.
func checkOutputs(cmd *cobra.Command, args []string) error {
	outputs, inputs := make(map[string]string), slices.Clone(args)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list := []string{f.Value.String()}
		if several, ok := f.Value.(pflag.SliceValue); ok {
			list = several.GetSlice()
		}
		if f.Name == "out" {
			outputs["--"+f.Name] = list[0]
		} else {
			inputs = append(inputs, list...)
		}
	})
	switch {
	case cmd.Name() == "merge" && len(args) > 0:
		outputs["OUT"], inputs = args[0], nil // the shards are beside it
	case cmd.Name() == "groups":
		inputs = nil // it adds a column to the file of --labels
	}
	for _, dir := range inputs {
		if p, err := result.ReadPlace(dir); err == nil {
			inputs = append(inputs, p.Root, p.Images, p.Labels, p.Weights)
		}
	}
	for flag, path := range outputs {
		if err := checkOutput(path, inputs); err != nil && (cmd.Name() != "groups" || !isLabels(path)) {
			return usagef("%s %s: %w; choose another name", flag, path, err)
		}
	}
	return nil
}

// checkOutput returns an error if a file would replace what ledg keeps.
func checkOutput(path string, inputs []string) error {
	dir, name := filepath.Split(filepath.Clean(path))
	is := func(own string) bool { return strings.EqualFold(name, own) } // as on file systems that ignore case
	if is(labels.File) {
		return errors.New("a file of this name holds the labels that people give")
	}
	for mark, names := range ownFiles {
		if (mark != result.ConfigFile || exists(filepath.Join(dir, result.PlaceFile)) || exists(filepath.Join(dir, result.RecordsFile))) && exists(filepath.Join(dir, mark)) && slices.ContainsFunc(names, is) {
			return fmt.Errorf("it is a file of %s itself", filepath.Clean(dir+"."))
		}
	}
	if isLabels(path) {
		return errors.New("it is a table of labels")
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if ledger, err := labels.IsLedger(path); err == nil && ledger {
		return errors.New("it holds labels that people gave")
	}
	for _, in := range inputs {
		from, err := os.Stat(in)
		if in == "" || err != nil {
			continue
		}
		if os.SameFile(info, from) {
			return errors.New("it is read by this command, or by a run that it names")
		}
		if from.IsDir() && isImage(path) && inFolder(in, path) {
			return fmt.Errorf("it is an image in %s", in)
		}
	}
	return nil
}

// isLabels reports whether a file is a table, CSV or JSON Lines, with columns of images and
// classes that has no predictions.
func isLabels(path string) (is bool) {
	const most, line = 1 << 30, 1 << 20
	columns := func(head []string) error {
		is = sheet.Column(head, "path", "file", "filename", "file_name", "image", "id") >= 0 && sheet.Column(head, "label", "class", "species") >= 0 && sheet.Column(head, "probability") < 0
		return io.EOF
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv", ".tsv":
		sheet.Read(path, most, line, columns, nil)
	case ".jsonl":
		f, err := regular.Open(path, most)
		if err != nil {
			return false
		}
		defer f.Close()
		var row map[string]any
		if json.NewDecoder(io.LimitReader(f, line)).Decode(&row) == nil && row["event"] == nil { // no ledger
			columns(slices.Collect(maps.Keys(row)))
		}
	}
	return is
}

// isImage reports whether a file begins as an image does.
func isImage(path string) bool {
	f, err := regular.Open(path, rgb.MaxFile)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, rgb.Magic)
	n, _ := io.ReadFull(f, head)
	return rgb.Format(head[:n]) != ""
}

// inFolder reports whether a file lies in a folder.
func inFolder(dir, path string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	path, err2 := filepath.EvalSymlinks(path)
	if err != nil || err2 != nil {
		return false
	}
	dir, err = filepath.Abs(dir)
	path, err2 = filepath.Abs(path)
	rel, err3 := filepath.Rel(dir, path)
	return errors.Join(err, err2, err3) == nil && filepath.IsLocal(rel)
}
