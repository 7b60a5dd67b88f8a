// Package exchange exports queries and labels to other labelling tools and imports labels from
// them: CSV, Label Studio, CVAT, class folders and COCO.
//
// [Write] writes [Item]s, which [Items] makes from a data set and a ledger's state. [Read] reads
// a tool's export as an [Import] of [Label]s; a [Matcher] finds their images by the exported ID,
// the SHA-256 of the file, or the path. Anything that cannot be matched, and an unknown class, is
// left out with the file and the line, or is an error with ReadOptions.Strict. [Import.Events] converts
// the labels to ledger events; the ledger's Import takes each of them once.
//
// Formats follow the tools' documentation: Label Studio's JSON export; CVAT's ImageNet 1.0 with
// and without images, Ultralytics YOLO Classification, and CVAT for images 1.1; COCO's images,
// annotations and categories.
package exchange
