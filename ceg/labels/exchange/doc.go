// Package exchange exports queries and labels to other labelling tools and imports labels from
// them: CSV, Label Studio, CVAT, FiftyOne and class folders.
//
// [Write] writes [Item]s, which [Items] makes from a data set and a ledger's state. [Read] reads
// a tool's export as [Answer]s; a [Matcher] finds their images by the exported ID, the SHA-256
// of the file, or the path. Anything that cannot be matched, and an unknown class, is an error
// that names the file and the line; nothing is then imported. [Events] converts the labels to
// ledger events; the ledger's Import takes each of them once.
//
// Formats are those of the tools' documentation: Label Studio's JSON, JSON_MIN and CSV exports;
// CVAT's ImageNet 1.0 with and without images, Ultralytics YOLO Classification, and CVAT for
// images 1.1; FiftyOneImageClassificationDataset and ImageClassificationDirectoryTree.
package exchange
