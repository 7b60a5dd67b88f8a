// Package page serves the web page on which people label images, and writes their labels into a
// [labels.Ledger].
//
// A [Server] is an http.Handler. All paths start with a secret token, which identifies the
// annotator. A request without a valid token, from another origin, or for an unexpected host
// name is refused. The page shows the images of one data set by ID, decoded by the same code as
// for training: annotators see what the network sees, except colour profiles, also for formats
// that browsers cannot show. Symbolic links out of the data set's folder are not followed.
//
// The page has no state of its own. A label is on disk before the reply with the next image, and
// open pages survive a restart of the server. A request about an image carries the state that
// the page showed. It is refused if somebody else has labelled the image since. The image in a
// window is leased to it: nobody else gets it until the window is closed or silent for 90
// seconds. Leases are in memory, so a restart loses leases but no labels.
//
// The page opens, and a label is stored, within milliseconds, even with a million images.
// BenchmarkServer measures both and fails above a second and 20 ms.
//
// # The interface
//
// Paths below /TOKEN/ of an annotator, with JSON requests and responses:
//
//	GET  setup                 classes, domains, and other constants
//	GET  view?client=C[&id=I]  the image for window C, and progress
//	POST act                   label, group, confirm, none, skip, unsure, bad, undo, redo, page, again
//	GET  prediction?id=I       a model's prediction
//	GET  grid?client=C&n=N     images to confirm together
//	GET  list?state=S[&class=C]  labelled images, newest first
//	GET  review?kind=K         probable label errors, near-duplicates
//	GET  image?id=I, thumb?id=I
//	POST beat, leave           a window is alive, or closed
package page
