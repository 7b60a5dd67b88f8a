package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/scripts/internal/cli"
)

// newLabelAgreementCommand returns the command that compares annotators.
func newLabelAgreementCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "agreement DIR",
		Short: "Compare what annotators said about the same images",
		Long: `Read labels.jsonl in DIR, a run's folder or that of the images, and say how far each two
annotators agree about the images that both gave a class: in how many the classes are
equal, and Cohen's kappa, which is 1 for annotators who always agree and 0 for those who
agree as often as chance would have it. The images about which they differ follow, with
what holds of them now.

Two annotators answer the same images by ledg label --by NAME --blind, or in files that
ledg label import takes. Kappa says something if neither saw the other's answers.`,
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
				fmt.Fprintln(cli.Plain{Writer: cmd.ErrOrStderr()}, note)
			}
			reportAgreement(cmd.OutOrStdout(), s)
			if n := len(s.Annotators()); n < 2 {
				fmt.Fprintf(cmd.OutOrStdout(), "%d annotator has answered, and nobody can be compared: ledg label --by NAME --blind asks another about the same images\n", n)
			}
			return nil
		},
	}
}

// reportAgreement says how far annotators agree.
func reportAgreement(w io.Writer, s *labels.State) {
	w = cli.Plain{Writer: w}
	all, _, _ := s.Count()
	fmt.Fprintf(w, "%s: %d images with a label, %d open, %d skipped, %d unsure, %d bad, %d disputed\n", labels.File,
		all.WithClass, all.Open, all.Skipped, all.Unsure, all.Bad, all.Disputed)
	agreements, differ := s.Agreements()
	for _, a := range agreements {
		fmt.Fprintln(w, a)
	}
	if len(differ) == 0 {
		return
	}
	what := fmt.Sprintf("%d images", len(differ))
	if len(differ) == 1 {
		what = "1 image"
	}
	fmt.Fprintf(w, "annotators differ about %s, which the rule %s settles:\n", what, s.Rule())
	const shown = 20
	for _, d := range differ[:min(shown, len(differ))] {
		fmt.Fprintf(w, "  %s\n", d)
	}
	if n := len(differ) - shown; n > 0 {
		fmt.Fprintf(w, "  and %d more\n", n)
	}
}
