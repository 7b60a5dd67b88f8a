// Package site is what is done on arriving at a site, a domain that a run has not seen: a guess
// of how right it is there, without labels ([Guess]); the choice of a few images to adapt
// with ([Choose]) and of others to measure with (package audit); the adaptation itself
// ([Sources.Adapt]); and the report of all that ([Report]).
//
// It works on features, logits and answers that are there already and links no engine; package
// visit has the network, the folder and the people. The words are those of package audit.
package site
