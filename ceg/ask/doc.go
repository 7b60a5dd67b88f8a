// Package ask asks people for labels, round by round, through the ledger of package
// labels, and takes up their answers: whoever asks need not be there while somebody
// labels, and may be stopped at any moment.
//
// A [Loop] is for a program that trains by itself: it chooses what to ask by one of the
// strategies of package active, from what the program's networks predict.
//
//	loop, err := ask.Open(dir, ask.Settings{IDs: ids, Domains: domains, ...})
//	for round := 0; round < rounds; round++ {
//		for {
//			open, err := loop.Ask(round, 20, predict(loop.Unlabelled(), loop.Labelled()))
//			if len(open) == 0 {
//				break
//			}
//			// Show the images to somebody, here or on the page of ledg label, and
//			// tell what they say; or end, and go on another day.
//			loop.Tell(labels.Event{Kind: labels.Answered, ID: open[0].ID, Class: "cat", By: "ann"})
//		}
//		train(loop.Labelled())
//	}
//
// A [Desk] is the part of it that knows nothing of strategies.
package ask
