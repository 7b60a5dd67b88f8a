// Package embedding writes the features of a data set's images to a file: what a
// network, usually a pre-trained one that is left as it is, says about every image and
// about augmented views of it. Training on such a file takes seconds where training
// on the images takes minutes.
//
// [Write] makes a .safetensors file of N images with V views and D features each:
//
//	features      F32 or F16 [N, V, D], or [N, D] with one view; view 0 is the clean image
//	labels        I64 [N], the class, or -1 where it is not known
//	domains       I64 [N]
//	splits        I64 [N], 0 for training, 1 for validation; not of one's own images,
//	              whose split follows from the labels
//	ids           U8, a JSON string a line, the images' IDs
//	digests       U8, likewise, the SHA-256 of each image
//	class_names   U8, likewise
//	domain_names  U8, likewise
//
// The metadata say what made it: "views" (clean, weak, strong ..., by name), "origin", where
// the images are, and the network and its weights ([datasets.Origin]), and "made_by", by
// which the next [Write] knows what it need not compute again. Data set "features" reads it
// back, shows the images, and embeds new ones alike; other programs read it by safetensors
// alone.
package embedding
