package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/labels/review"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

func newDataGroupsCommand() *cobra.Command {
	var source dataFlags
	var out, backend, cache string
	quiet := false
	cmd := &cobra.Command{
		Use:         "groups --dataset {folder | features} --root ROOT --out groups.csv",
		Annotations: map[string]string{guide: "photos.md"},
		Short:       "Find near-duplicate images and write them as groups",
		Long: `Find near-duplicate images by their features. The .csv file has the columns id, label and
group, and ledg train takes it with --labels. No split divides a group, and one image of
each group is queried before a second. Groups are named after their first image.

Two images are near-duplicates if their distance is at most 0.3 of that to their tenth
neighbours. So a burst of more than ten images is mostly missed: use --group for those.
Groups from --group or --labels are kept, and joined where their images are duplicates.`,
		Example: `  ledg data groups --dataset folder --root photos --out groups.csv
  ledg train --dataset folder --root photos --classes cat,dog --labels groups.csv --out mine
  ledg data groups --dataset features --root pacs.safetensors --out groups.csv`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if exists(out) && out != source.labels {
				return usagef("--out %s: the file exists; only the file of --labels is overwritten", out)
			}
			d, truth, err := source.openDataset()
			if err != nil {
				return err
			}
			if source.notes != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), source.notes)
			}
			if d.Len() > review.MaxRows {
				return usagef("%s has %d images, and at most %d can be compared; --group makes groups by paths", d.Name, d.Len(), review.MaxRows)
			}
			f, ok := d.Features()
			if !ok && source.dataset != photoDataset {
				return usagef("--dataset %s: images are compared by features, which ledg embed writes", source.dataset)
			}
			features := d
			if !ok {
				file, err := source.embed(cmd, d.Classes, backend, cache, quiet)
				if err != nil {
					return err
				}
				if features, _, err = datasets.Open(datasets.FeaturesFile, file, datasets.Options{}); err != nil {
					return err
				}
				f, _ = features.Features()
				if d, truth, err = source.without(features.Skipped); err != nil { // those that cannot be decoded
					return err
				}
			}
			groups, err := nearGroups(cmd.Context(), d, features, f)
			if err != nil {
				return err
			}
			if err := regular.WriteFile(out, func(w io.Writer) error { return writeGroups(w, d, truth, groups) }); err != nil {
				return err
			}
			tellGroups(cmd.OutOrStdout(), out, d, groups)
			return nil
		},
	}
	source.add(cmd)
	source.addOwn(cmd)
	flags := cmd.Flags()
	flags.StringVar(&out, "out", "", "file to write, .csv (required)")
	flags.StringVar(&backend, "backend", "", "backend that computes; see ledg backend --help (default auto)")
	flags.StringVar(&cache, "cache", "", "folder of decoded images and features (default the user's cache folder)")
	flags.BoolVar(&quiet, "quiet", false, "print no progress on stderr")
	cmd.MarkFlagRequired("out")
	return cmd
}

// nearGroups returns the group of each example of d, by the features that another data set has of
// its images.
func nearGroups(ctx context.Context, d, of *datasets.Dataset, f *datasets.Features) ([]int, error) {
	v, err := f.OpenFew(ctx, "")
	if err != nil {
		return nil, err
	}
	m := head.Matrix{Rows: d.Len(), Cols: v.Dim, Stride: v.Dim, Data: make([]float32, d.Len()*v.Dim)}
	var scratch []byte
	for i, e := range d.Examples {
		k, ok := of.Index(e.ID)
		if !ok {
			return nil, fmt.Errorf("there are no features of %s", e.ID)
		}
		if err := v.Read(k, 0, m.Data[i*m.Cols:(i+1)*m.Cols], &scratch); err != nil {
			return nil, err
		}
	}
	return review.Groups(ctx, m, d.Groups, nil)
}

// several are the examples of every group of several, in the order of their first ones.
func several(groups []int) (list [][]int) {
	at := make(map[int]int)
	var all [][]int
	for i, g := range groups {
		k, ok := at[g]
		if !ok {
			k = len(all)
			at[g], all = k, append(all, nil)
		}
		all[k] = append(all[k], i)
	}
	return slices.DeleteFunc(all, func(members []int) bool { return len(members) < 2 })
}

// writeGroups writes a file that datasets.ReadTable reads.
func writeGroups(w io.Writer, d *datasets.Dataset, truth datasets.Truth, groups []int) error {
	names := make([]string, d.Len())
	if d.Groups != nil {
		for i, k := range d.Groups {
			names[i] = d.GroupNames[k]
		}
	}
	for _, members := range several(groups) {
		name := ""
		for _, i := range members {
			name = cmp.Or(name, names[i])
		}
		for _, i := range members {
			names[i] = name
			if name == "" {
				names[i] = d.Examples[members[0]].ID
			}
		}
	}
	out := csv.NewWriter(w)
	out.Write([]string{"id", "label", "group"})
	for i, e := range d.Examples {
		class := ""
		if truth.Knows(i) {
			class = d.Classes[truth.Class(i)]
		}
		out.Write([]string{datasets.Guard(e.ID), datasets.Guard(class), datasets.Guard(names[i])})
	}
	out.Flush()
	return out.Error()
}

// tellGroups says what was found.
func tellGroups(w io.Writer, out string, d *datasets.Dataset, groups []int) {
	list := several(groups)
	in, largest, crossing := 0, 0, 0
	for _, members := range list {
		in, largest = in+len(members), max(largest, len(members))
		if slices.ContainsFunc(members, func(i int) bool { return d.Examples[i].Domain != d.Examples[members[0]].Domain }) {
			crossing++
		}
	}
	fmt.Fprintf(w, "%s: %s, %d of them in %s with several images, at most %d in one\n", out, count(d.Len(), "image"), in, count(len(list), "group"), largest)
	if crossing > 0 {
		fmt.Fprintf(w, "%s in several %ss: none of these can be --target\n", count(crossing, "group"), d.DomainWord())
	}
}
