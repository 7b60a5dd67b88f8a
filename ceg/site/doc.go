// Package site evaluates and adapts a network on a new domain, a site. Its steps:
//   - a label-free accuracy estimate ([Sources.EstimateAccuracy])
//   - selection of a few images to label for adaptation ([Choose]) and of others to label
//     for evaluation (package audit)
//   - the adaptation of the class head ([Sources.Adapt])
//   - a report of the results ([Report])
//
// Functions take features, logits and labels and need no engine. Package visit combines them with
// the network, the folder of images and human annotators. Terms are as in package audit.
package site
