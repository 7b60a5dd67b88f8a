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
//	splits        I64 [N], 0 for training, 1 for validation
//	ids           U8, a JSON string a line, the images' IDs
//	class_names   U8, likewise
//	domain_names  U8, likewise
//
// The metadata say what made it: "views" (clean, weak, strong ..., by name),
// "network", "image_size", "weights" with their SHA-256, "dataset" and "seed". Data set
// "features" reads it back, and other programs do by safetensors alone.
package embedding
