// Package result keeps what a run found out, and says how sure we are of it.
//
// A run writes a directory. Training only appends facts to it; choosing an
// epoch to report is a separate, named, pure function over those facts, so it
// can be repeated by anyone, later, without the trainer:
//
//	run, err := result.OpenRun("runs/ceg-print-1")
//	choices, err := result.Choose(run.Records)
//	fmt.Println(choices.LastEpoch.Target) // 812/1000
//
// The files of a run's directory:
//
//	config.json     the settings, with the number of their format
//	records.jsonl   one Record per epoch
//	queries.csv     one Query per label, in the order in which they were asked
//	result.json     the Result, written when training is over
//	kept.safetensors what the run is used and judged by without its images (package rundir/artifact)
//	done            present once everything above is complete
//	given.jsonl     the labels that a file gave (--labels), begun.jsonl those that another
//	                run has left (ledg extend), as package labels has them; not in every run
//	local.json      the Place where this machine has the images; no part of the records
//	.lock           held by the process that writes here
//
// Checkpoints lie beside them and belong to the trainer. A Dir writes all of
// these so that a process killed at any moment leaves no file that looks whole
// and is not. Everything but the fields called time and timing is a function of
// the settings: the same run gives the same bytes again.
//
// Many finished runs are kept in one file, a line for each ([Collect]). Runs reads a
// folder of runs, OpenRun and OpenAll a path, whichever way they are kept, as a Run.
//
// From several runs, Summarize and Paired give means and differences with
// Student-t intervals; a Summary never goes without its n. A Difference has p-values
// by t and, of few pairs, by all flips of signs; Holm corrects those of many rows. A
// Table prints as text, Markdown, CSV or LaTeX.
package result
