// Package datasets opens multi-domain image data sets, splits them, and decodes images as 8-bit
// RGB. [Open] opens a data set by name: built-in, published, the user's own folder, or feature
// vectors in a file.
//
// [Folder] opens a folder with images at domain/class/image, or at domain/image if the class is
// unknown. It returns a Dataset, the images without classes, and a Truth, the classes. Code that
// gets only a Dataset cannot read a class; only an oracle and an evaluator hold the Truth.
// Dataset.Image decodes one image. Prepare decodes and resizes all of them once, into a cache
// file from which Images.Read is fast. Check reports on a data set before training.
//
// Open("features", "pool.safetensors", ...) opens feature vectors that a network has computed
// from images; Dataset.Features returns them.
//
// # Terms
//
//   - Domain: a style or a source of images, such as "photo" or "sketch".
//   - Class: the true category of an image. A label is an annotator's judgement.
//   - Example: one image, named by a permanent ID, its path.
//     A Truth may know only the classes of some examples.
//   - Split: Train or Val. The pool holds the Train parts of the source domains;
//     a target domain is tested on both.
//
// # Data sets larger than memory
//
// This package holds only a few images at a time per processor. Prepare writes each decoded image
// to the cache file right away, and Images keeps four bytes of each in memory and reads pixels on
// demand.
package datasets
