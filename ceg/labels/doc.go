// Package labels keeps what people said about images: a ledger of events in one
// append-only file, labels.jsonl, from which everything else about labels follows.
//
// An [Event] is a line: an image was asked for, answered, skipped, called unsure or
// bad, an answer was corrected, an act was undone or redone. It names classes, images
// and domains, never their numbers. A [Ledger] appends events, each with the next
// number, and returns once they are on the disk. Any number of goroutines and
// processes may append to one ledger at the same time; nobody holds a lock but for the
// moment of an append. A [State] is the fold over the events: which questions are open,
// what the class of an image is, what every annotator said, what Undo would take back.
// It is kept up to date by reading no more than what was appended.
//
// # The fold
//
// Of the events about an image that are not undone, the newest answered, corrected,
// unsure or bad of an annotator is that annotator's opinion. A [Rule] makes one
// decision of the opinions: the one that was given last (the default), that of the
// majority, or none while they differ; a rule event chooses. A corrected event settles: opinions that are older than it do not
// count. Without an opinion an image is skipped if it was skipped since it was last
// asked, and open otherwise, unless another image was asked instead of it.
//
// Events that were appended in one call by one annotator are an act, named by the
// number of its first event: a page of answers, an import. Undone and redone take an
// act back and bring it back as a whole; they are events, too, so that nothing is ever
// rewritten, and undoing has no limit and survives a restart.
//
// # Crashes and damage
//
// A crash in the middle of an append leaves at most a last line without its newline.
// The next append completes it if it is a whole event, and otherwise moves it to a file
// beside, labels.jsonl.cut-*; [Ledger.Notes] says so. Anything else that is not the next
// event is an error with the file's name and the line's number; nothing is appended to
// such a file, nor cut from it, and links are not followed.
package labels
