// Package exchange writes questions and labels for other labelling tools, and reads the
// answers back: a plain CSV file, Label Studio, CVAT, FiftyOne and class folders.
//
// [Write] writes [Item]s, which [Items] makes of a data set and a ledger's state. [Read]
// reads what a tool has exported, as [Answer]s; a [Matcher] finds out which images they
// are about: by the ID that was written, by the SHA-256 of the file, or by the path. What
// cannot be matched, or has a class that does not exist, is an error that names the file
// and, where it has lines, the line; then nothing of it is taken. Events makes the
// answers events of a ledger, whose Import takes each of them once.
//
// The shapes are those of the tools' documentation: Label Studio's JSON, JSON_MIN and CSV
// exports; CVAT's ImageNet 1.0 with images and without, Ultralytics YOLO Classification,
// and CVAT for images 1.1; FiftyOneImageClassificationDataset and
// ImageClassificationDirectoryTree.
package exchange
