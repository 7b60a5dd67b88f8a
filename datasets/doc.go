// Package datasets finds the images of a multi-domain data set, splits them, and
// hands them out as 8-bit RGB.
//
// Put images at domain/class/image in a folder, or those whose class nobody has said
// yet at domain/image, and call Folder with an
// os.DirFS of it (or Open, which knows the other data sets by name as well): it
// returns a Dataset, the images without their classes, and a Truth, the classes.
// They are kept apart so that code which is given a Dataset cannot look at a
// class: only an oracle and an evaluator hold the Truth. Dataset.Image decodes
// one image; Prepare decodes and shrinks all of them once, into a cache file from
// which Images.Read is fast. Check reports on a data set before it is trained on.
//
// A data set can also be a file of feature vectors, which a network has made of images:
// Open("features", "pool.safetensors", ...). Dataset.Features hands them out.
//
// # Words
//
//   - Domain: a style or a source of images, such as "photo" or "sketch".
//   - Class: what an image shows. A label, in contrast, is what someone said.
//   - Example: one image, named for good by its ID, a path.
//     A Truth may know the classes of some examples only.
//   - Split: Train or Val; a source domain lends its Train part to the pool, and a
//     target domain is tested on both.
//
// # Larger than memory
//
// No part of this package holds more than a few images at a time per processor:
// Prepare writes each image to the cache file as soon as it is decoded, and
// Images keeps only four bytes of each in memory and reads its pixels when asked.
// What the machine has memory for stays in the operating system's page cache.
package datasets
