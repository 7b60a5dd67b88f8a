package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/objective"
)

// newMethodsCommand lists what a method is made of.
func newMethodsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "methods",
		Short: "List the query strategies and the objectives that a method is made of",
		Long: `List the query strategies, which choose the labels to ask for, and the objectives,
which the networks are trained for, with one line and the source of each. A method is
one of each: ledg train --strategy NAME --objective NAME. --method is its short form:
a strategy's name (objective ceg), with -ce behind it (objective erm), or
STRATEGY+OBJECTIVE; an objective's name alone has all labels drawn at random before
training. All objectives share CEG's optimisation, as in the paper, unless --protocol
original takes that of their published code.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "STRATEGY\tASKS FOR\tSOURCE")
			for _, name := range active.Names() {
				s := strategies[name]
				fmt.Fprintf(w, "%s\t%s\t%s\n", name, s.line, s.source)
			}
			fmt.Fprintln(w, "\t\t")
			fmt.Fprintln(w, "OBJECTIVE\tTRAINS FOR\tSOURCE")
			for _, m := range objective.Methods() {
				fmt.Fprintf(w, "%s\t%s\t%s\n", m.Name, m.Line, m.Citation)
			}
			return w.Flush()
		},
	}
}

const cegPaper = "Yuan et al., Label-Efficient Domain Generalization via Collaborative Exploration and Generalization, ACM MM 2022"

// strategies says of each query strategy what it asks for, and whose it is.
var strategies = map[string]struct{ line, source string }{
	"ceg":          {"images of high uncertainty, representativeness and diversity, by weighted ranks", cegPaper},
	"ceg-batch":    {"as ceg, and far from each other within a query", cegPaper + "; the batch is ours"},
	"ceg-balanced": {"as ceg, with ranks and numbers domain by domain", cegPaper + "; the balance is ours"},
	"uniform":      {"images at random", "-"},
	"entropy":      {"images of the highest entropy", "Shannon, A Mathematical Theory of Communication, 1948"},
	"bvsb":         {"images whose two best classes are closest", "Joshi, Porikli and Papanikolopoulos, Multi-class Active Learning for Image Classification, CVPR 2009"},
	"confidence":   {"images of the lowest top probability", "Lewis and Gale, A Sequential Algorithm for Training Text Classifiers, SIGIR 1994"},
	"coreset":      {"images farthest from all labelled ones, by greedy k-centre", "Sener and Savarese, Active Learning for Convolutional Neural Networks: A Core-Set Approach, ICLR 2018"},
	"badge":        {"images of large and different gradients, by k-means++", "Ash et al., Deep Batch Active Learning by Diverse, Uncertain Gradient Lower Bounds, ICLR 2020"},
	"kmeans":       {"images nearest to the centres of k-means", "Zhdanov, Diverse mini-batch Active Learning, 2019"},
	"typiclust":    {"the most typical image of each cluster with fewest labels", "Hacohen, Dekel and Weinshall, Active Learning on a Budget: Opposite Strategies Suit High and Low Budgets, ICML 2022"},
	"probcover":    {"images whose balls cover most others", "Yehuda et al., Active Learning Through a Covering Lens, NeurIPS 2022"},
	"maxherding":   {"images that are most like all others", "Bae, Noh and Sutherland, Generalized Coverage for More Robust Low-Budget Active Learning, ECCV 2024"},
	"uherding":     {"images that are most like all uncertain ones", "Bae, Oliveira and Sutherland, Uncertainty Herding: One Active Learning Method for All Label Budgets, ICLR 2025"},
	"uherding-s1":  {"as uherding, with a kernel of width 1", "Bae, Oliveira and Sutherland, ICLR 2025; the width is ours"},
	"bait":         {"images that lower the Fisher information bound of the pool most", "Ash et al., Gone Fishing, NeurIPS 2021; Huseljic et al., Fast Fishing, ECML PKDD 2024"},
	"bait-equal":   {"as bait, with the weight of a labelled image for each new one", "Ash et al., NeurIPS 2021; Huseljic et al., ECML PKDD 2024; the weight is ours"},
	"dropquery":    {"images whose class changes when features are dropped, by k-means", "Gupte et al., Revisiting Active Learning in the Era of Vision Foundation Models, TMLR 2024"},
	"tcm":          {"as typiclust for three rounds, then as bvsb", "Doucet, Estermann, Aczel and Wattenhofer, Bridging Diversity and Uncertainty in Active Learning with Self-Supervised Pre-Training, 2024"},
}

// pairFlags are --strategy and --objective, beside --method.
type pairFlags struct{ strategy, objective string }

func (p *pairFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.strategy, "strategy", "ceg", "query strategy; see ledg methods")
	cmd.Flags().StringVar(&p.objective, "objective", "ceg", "what the networks are trained for; see ledg methods")
	cmd.MarkFlagsMutuallyExclusive("method", "strategy")
	cmd.MarkFlagsMutuallyExclusive("method", "objective")
}

// method returns the method that the flags name, or the short form where neither is
// given.
func (p pairFlags) method(short string, changed func(flag string) bool) string {
	if changed("strategy") || changed("objective") {
		return ceg.Method(p.strategy, p.objective)
	}
	return short
}
