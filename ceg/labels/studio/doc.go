// Package studio is a machine learning backend of Label Studio: a [Server] answers what
// Label Studio asks of one (/health, /setup, /predict, /webhook), with predictions of a
// [Model] and with a ledger (package labels) that takes the answers.
//
// A prediction has two scores. That of the prediction orders tasks: the smallest is the
// image to be asked about first, which is the order of Label Studio's data manager by
// "Prediction score", ascending, and of its uncertainty sampling. That of the choice in it is the
// probability of the class.
//
// Annotations are events of the ledger by who gave them, and are on the disk before a
// webhook is answered. An annotation is known by the project's and its own number, which are
// in the event's Tool: told again, it changes nothing; changed, it is a new opinion; deleted,
// what it said is undone. Label Studio tells each annotation once, whether anybody listens or
// not. So when a project is heard of first, and before training, its annotations are read
// from its API, and what the ledger does not know is taken over; that needs its address and
// a token.
//
// Requests are not trusted. Addresses in tasks are requested only if they are files of Label
// Studio at the configured address, or at hosts that the operator allowed (see reach); what a
// request and an image may cost is limited (see the constants in limits.go).
//
// The protocol is that of Label Studio 1.23: its ml/api_connector.py and webhooks.
package studio
