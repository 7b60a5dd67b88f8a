// Package page serves the page on which people label images in a browser, and writes
// what they say into a [labels.Ledger].
//
// A [Server] is an http.Handler. Everything is below a secret path element, the token of an
// annotator, from which follows whose name an answer gets; a request without one, from
// another origin, or by a host name that is neither the loopback's nor the one to listen at
// gets nothing. What is shown are the images of one data set, by their IDs, decoded by
// the code that decodes them for training: what the page shows is what the network sees,
// colour profiles left aside, and formats that browsers do not know
// are no exception. A link that leads out of the data set's folder is not followed.
//
// The page holds no state that matters. An answer is on the disk before the reply that
// brings the next image; kill the server at any time and start it again, and open pages
// go on. What a request says about an image comes with the state in which the page saw
// it, and is refused when somebody else has answered since, in another window or by
// another program. The question on a window's screen is leased to it: nobody else is asked
// it, until the window is closed or has said nothing for 90 seconds. Leases are in memory;
// a server that is killed loses them, and no answer.
//
// The page opens in milliseconds and an answer is on the disk in milliseconds, in a pool of a
// million images, too; BenchmarkServer has the figures, and fails where they are above a
// second and 20 ms.
//
// # The interface
//
// Below /TOKEN/ of an annotator, with JSON in and out:
//
//	GET  setup                 classes, domains, what does not change
//	GET  view?client=C[&id=I]  the question of window C and how far everything is
//	POST act                   answer, group, confirm, skip, unsure, bad, undo, redo, page, again
//	GET  guess?id=I            what a model thinks
//	GET  grid?client=C&n=N     images to confirm together
//	GET  list?state=S[&class=C]  what was answered, newest first
//	GET  review?kind=K         labels that are probably wrong, images that are nearly the same
//	GET  image?id=I, thumb?id=I
//	POST beat, leave           a window lives, or is closed
package page
