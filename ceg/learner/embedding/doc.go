// Package embedding computes features of a data set's images with a network, usually a frozen
// pretrained one, and writes them to a file. Features of augmented views can be included.
// Training on such a file takes seconds instead of minutes.
//
// [Write] writes a .safetensors file of N images with V views and D features each:
//
//	features      F32 or F16 [N, V, D], or [N, D] with one view; view 0 is the clean image
//	labels        I64 [N], the class, or -1 where it is not known
//	domains       I64 [N]
//	splits        I64 [N], 0 for training, 1 for validation, 2 for test; not of one's own images,
//	              whose split follows from the labels
//	ids           U8, a JSON string a line, the images' IDs
//	digests       U8, likewise, the SHA-256 of each image
//	class_names   U8, likewise
//	domain_names  U8, likewise
//	text          F32 [C, D], class embeddings from names, if requested; "names" in the metadata
//	              describes them ([datasets.ClassEmbeddings])
//
// The metadata record "views" (clean, weak, strong ..., by name), "origin", the images and the
// network with its weights ([datasets.Origin]), and "made_by", by which the next [Write] reuses
// features. The data set "features" reads the file, shows its images, and embeds new ones in the
// same way; other programs read it as plain safetensors.
package embedding
