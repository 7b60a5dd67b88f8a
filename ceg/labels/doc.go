// Package labels stores human labels in a ledger: an append-only file of events, labels.jsonl,
// from which the current labels are computed.
//
// Each line is an [Event]: an image was queried, labelled, put off, skipped, or marked unsure, bad or as none of
// the classes; a
// label was corrected; an action was undone or redone. Events contain names of classes, images
// and domains, never indices. A [Ledger] appends events with consecutive numbers and returns
// once they are on disk. Any number of goroutines and processes may append to one ledger; the
// lock is held only during an append. A [State] is the result of all events: open queries, the
// class of each image, each annotator's labels, and what Undo would revert. It is updated by
// reading only new lines.
//
// # The fold
//
// Undone events are ignored. An annotator's opinion about an image is the annotator's newest
// answered, corrected, unsure, bad or none event. A [Rule] combines the annotators' opinions: the
// newest (default), the majority, or none while they differ; a rule event selects the rule. A
// corrected event overrides older opinions. Without an opinion an image is skipped if it was
// skipped since its last query, and open otherwise, unless another image was queried in its
// place. An open image that was put off comes after all others.
//
// Events that one annotator appends in one call form an act, named by the number of its first
// event, such as a page of labels or an import. Undone and redone events revert and restore
// whole acts. They are events, too: nothing is ever rewritten, and undo has no limit and
// survives a restart.
//
// # Crashes and damage
//
// A crash during an append leaves at most a last line without newline. The next append completes
// it if it is a whole event, and otherwise moves it to a file labels.jsonl.cut-*; [Ledger.Notes]
// reports this. Anything else that is not the next event is an error with file name and line
// number. Nothing is appended to such a file or removed from it, and symbolic links are not
// followed.
package labels
