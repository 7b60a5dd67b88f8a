package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/labels"
)

func newLabelAgreementCommand() *cobra.Command {
	return &cobra.Command{
		Use:         "agreement DIR",
		Annotations: map[string]string{guide: "labelling.md"},
		Short:       "Compare the labels of several annotators",
		Long: `Report how far annotators agree on the images that both labelled, from labels.jsonl in DIR:
the share of equal labels, and Cohen's kappa (1 for full agreement, 0 for chance). Then
list the images on which they differ, with the label that counts.

Kappa is meaningful if annotators did not see each other's labels: ledg label --blind.`,
		Example: `  ledg label runs/mine --by bob --blind
  ledg label agreement runs/mine`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := os.Stat(filepath.Join(args[0], labels.File)); err != nil {
				return usagef("%s: there is no %s in it", args[0], labels.File)
			}
			s, note, err := labels.Read(os.DirFS(args[0]), labels.File, nil, labels.Options{})
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if note != "" {
				fmt.Fprintln(cmd.ErrOrStderr(), note)
			}
			reportAgreement(cmd.OutOrStdout(), s)
			if n := len(s.Annotators()); n < 2 {
				fmt.Fprintf(cmd.OutOrStdout(), "%d annotator, so there is no agreement to compute: ledg label --by NAME --blind lets another label the same images\n", n)
			}
			return nil
		},
	}
}

// reportAgreement says how far annotators agree.
func reportAgreement(w io.Writer, s *labels.State) {
	all, _, _ := s.Count()
	fmt.Fprintf(w, "%s: %d images with a label, %d open, %d skipped, %d unsure, %d bad, %d disputed\n", labels.File,
		all.WithClass, all.Open, all.Skipped, all.Unsure, all.Bad, all.Disputed)
	if all.None > 0 {
		fmt.Fprintf(w, "%s of none of the classes\n", count(all.None, "image"))
	}
	agreements, differ := s.Agreements()
	for _, a := range agreements {
		fmt.Fprintln(w, a)
	}
	if len(differ) == 0 {
		return
	}
	fmt.Fprintf(w, "annotators differ about %s; the rule %s decides:\n", count(len(differ), "image"), s.Rule())
	const shown = 20
	for _, d := range differ[:min(shown, len(differ))] {
		fmt.Fprintf(w, "  %s\n", d)
	}
	if n := len(differ) - shown; n > 0 {
		fmt.Fprintf(w, "  and %d more\n", n)
	}
}
