// Package studio implements a machine learning backend of Label Studio. A [Server] handles Label
// Studio's requests (/health, /setup, /predict, /webhook) with predictions of a [Model], and
// stores the annotations in a ledger (package labels).
//
// A prediction has two scores. The prediction's own score orders tasks: the smallest is to be
// labelled first, as in Label Studio's data manager by ascending "Prediction score" and in its
// uncertainty sampling. The score of the choice in it is the probability of the class.
//
// Annotations are events of the ledger by their annotators, on disk before a webhook returns. An
// annotation is identified by the project's and its own number, in the event's Tool. A repeated
// one has no effect, a changed one is a new label, and deleting it withdraws the label. Label
// Studio sends each annotation only once. So when a project first appears, and before training,
// all annotations are read from its API and missing ones are added; this needs its address and a
// token.
//
// Requests are not trusted. Image addresses in tasks are requested only at the configured Label
// Studio (see reach). Requests and images have size
// limits (see limits.go).
//
// The protocol is Label Studio 1.23's: its ml/api_connector.py and webhooks.
package studio
