// Package model builds and loads networks. [Load] returns the trained network of a run,
// [OpenWeights] and [OpenStyle] read pretrained weights, and [LearnerOptions] and [Work]
// translate a config for the learner and an engine.
//
// A [Net] computes features and class logits of images; an [Extractor] computes features of many
// images on several cores. Package nets/lowering chooses the implementation on each backend, for
// both and for the learner.
//
// [config.Networks] is the registry of backbones, and [nets.New] builds them. A new backbone
// needs one line there, and a file in package nets if its architecture is new.
package model
