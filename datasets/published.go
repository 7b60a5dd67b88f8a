package datasets

import "fmt"

// pacsCounts are the images of PACS by domain and class, as {train, crossval}:
// the official lists without the known bad file, which takes sketch/dog from 694
// to 693.
var pacsCounts = [4][7][2]int{
	{{341, 38}, {229, 26}, {256, 29}, {165, 19}, {180, 21}, {265, 30}, {404, 45}}, // art_painting
	{{350, 39}, {411, 46}, {311, 35}, {121, 14}, {291, 33}, {259, 29}, {364, 41}}, // cartoon
	{{170, 19}, {181, 21}, {163, 19}, {167, 19}, {179, 20}, {251, 29}, {388, 44}}, // photo
	{{693, 78}, {665, 75}, {677, 76}, {547, 61}, {734, 82}, {71, 9}, {143, 17}},   // sketch
}

// officeHomeCounts are the images of Office-Home by domain and class, from the
// lists of thuml/CDAN. Of n images floor(0.9 n) are in train/ of the archive
// office_home_dg, the rest in val/.
var officeHomeCounts = [4][65]int{
	{ // art
		74, 41, 27, 40, 75, 99, 40, 33, 20, 76, 69, 25, 44, 40, 40, 23, 15, 18, 21, 45, 22, 46, 90, 20, 46,
		40, 40, 79, 46, 18, 72, 49, 51, 20, 42, 32, 18, 49, 21, 20, 19, 19, 20, 26, 19, 18, 24, 47, 49, 15,
		20, 30, 42, 41, 46, 40, 20, 46, 40, 16, 44, 43, 20, 21, 16,
	},
	{ // clipart
		60, 56, 64, 98, 99, 99, 73, 46, 78, 99, 99, 40, 99, 64, 42, 41, 48, 40, 41, 50, 40, 40, 99, 99, 61,
		52, 99, 69, 40, 99, 53, 40, 99, 71, 99, 40, 76, 99, 83, 40, 51, 40, 99, 99, 41, 87, 40, 46, 40, 67,
		99, 75, 42, 42, 43, 61, 90, 60, 99, 80, 99, 39, 99, 53, 40,
	},
	{ // product
		79, 99, 62, 43, 44, 62, 47, 81, 81, 56, 99, 65, 96, 88, 75, 83, 67, 41, 67, 58, 71, 99, 91, 90, 41,
		67, 57, 90, 72, 99, 41, 54, 99, 56, 98, 72, 96, 41, 93, 68, 70, 47, 60, 40, 38, 99, 43, 43, 59, 58,
		99, 40, 49, 46, 99, 43, 99, 47, 76, 60, 58, 42, 45, 93, 98,
	},
	{ // real_world
		86, 99, 64, 83, 99, 78, 80, 73, 68, 99, 96, 65, 64, 76, 73, 62, 51, 43, 81, 60, 58, 85, 75, 57, 36,
		60, 52, 60, 72, 75, 83, 78, 67, 23, 71, 46, 60, 58, 68, 64, 30, 68, 65, 59, 67, 52, 53, 66, 75, 41,
		77, 51, 66, 77, 88, 63, 81, 54, 53, 59, 82, 85, 67, 81, 49,
	},
}

// comparePACS tells where the counts differ from pacsCounts.
func comparePACS(d *Dataset, t Truth) []string {
	return compareCounts(d, t, func(k, c int) (train, val int) {
		return pacsCounts[k][c][0], pacsCounts[k][c][1]
	})
}

// compareOfficeHome tells where the counts differ from officeHomeCounts.
func compareOfficeHome(d *Dataset, t Truth) []string {
	return compareCounts(d, t, func(k, c int) (train, val int) {
		n := officeHomeCounts[k][c]
		return trainCount(n), n - trainCount(n)
	})
}

// compareCounts compares every domain, class and split with the published
// numbers.
func compareCounts(d *Dataset, t Truth, published func(k, c int) (train, val int)) []string {
	var diffs []string
	counts := countCells(d, t)
	for k, domain := range d.Domains {
		for c, class := range d.Classes {
			train, val := published(k, c)
			if got := counts[k][c]; got != (Count{Train: train, Val: val}) {
				diffs = append(diffs, fmt.Sprintf("%s/%s has %d train and %d val images, published are %d and %d",
					domain, class, got.Train, got.Val, train, val))
			}
		}
	}
	return diffs
}
