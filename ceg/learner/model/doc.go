// Package model is where networks come from: what a config's network is to the learner and
// to an engine ([LearnerOptions], [Work]), the weights that it starts from ([OpenWeights],
// [OpenStyle]), and what a run has made of it ([Load]).
//
// Two things compute with values that are there: a [Net] features and class logits of
// images, and an [Extractor] features of very many. Package nets/lowering chooses for both,
// and for the learner, what they are made of on a backend.
//
// [config.Networks] is the registry of backbones, and [nets.New] builds them: one more is a
// line there, and a file in package nets if its family is new.
package model
