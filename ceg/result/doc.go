// Package result stores the results of a run and computes statistics over runs: model selection,
// means with confidence intervals, paired tests and tables.
//
// Training appends facts to the run's folder. Model selection is a separate, named, pure
// function over these facts, so anybody can repeat it later without training:
//
//	run, err := result.OpenRun("runs/ceg-print-1")
//	choices, err := result.Choose(run.Records)
//	fmt.Println(choices.LastEpoch.Target) // 812/1000
//
// The files of a run's folder:
//
//	config.json     the settings, with their format version
//	records.jsonl   one Record per epoch
//	queries.csv     one Query per label, in query order
//	result.json     the Result, written after training
//	kept.safetensors features and logits that replace the images (package rundir/artifact)
//	done            present once everything above is complete
//	given.jsonl     labels from a file (--labels), begun.jsonl labels from another
//	                run (ledg extend), in the format of package labels; not in every run
//	local.json      the Place where this machine has the images; not a result
//	.lock           locked by the writing process
//
// Checkpoints lie beside them and belong to the trainer. A [Dir] writes all of these so that a
// process killed at any moment leaves no file that looks complete but is not. Everything except
// the fields time and timing is a function of the settings: the same run gives the same bytes
// again.
//
// [Collect] merges finished runs into one file, a line each. [OpenRun], [OpenAll] and [OpenRuns]
// read runs in either form as a [Run].
//
// [Summarize] and [Paired] compute means and differences over runs with Student-t intervals and
// their n. A [Difference] has p-values of the paired t-test and, for few pairs, of the exact
// sign-flip test; [Holm] corrects for multiple comparisons. A [Table] prints as text, Markdown,
// CSV, LaTeX or HTML.
package result
