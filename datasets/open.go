package datasets

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/datasets/foreign"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// Options are the settings of Open.
type Options struct {
	// Seed draws the train/val split of data sets without an official one. Glyphs ignores it:
	// its images and split are fixed.
	Seed uint64
	// SplitsDir is the folder of the PACS lists; empty searches the root and its parent.
	SplitsDir string
	// Exclude lists IDs of files to leave out, such as damaged images. An unknown ID is an error.
	Exclude []string
	// Patterns leave out files and folders of images that are Yours: one without a slash by their
	// names, another by their whole paths, in which ** stands for any folders. Damaged are
	// images to leave out because they cannot be decoded; the reasons go to Dataset.Skipped.
	Patterns []string
	// Layout reads sites and classes in the paths of images that are Yours, such as
	// {site}/{class}/{name}; SiteRule is a regular expression over paths that names sites. Both
	// empty are domain/class/image and domain/image.
	Layout, SiteRule string
	Damaged          []Skipped
	// CacheDir is the folder for Prepare. Cached information about unchanged files is used
	// without opening them.
	CacheDir string
	// Classes are the class names of a data set that is Yours, in index order. Nil uses the classes
	// of class folders and Labels, in byte order.
	Classes []string
	// Labels are classes of its images, which take precedence over class folders. IDs may have
	// backslashes or a leading ./. Strict makes a label of an image that is not there an error.
	Labels []Label
	Strict bool
	// Group is a rule that maps IDs to groups; see ParseGroup. It replaces the groups of Labels.
	// With a rule, images may also lie one folder deeper. If Classes are specified, so may a
	// folder in a domain that is not a class.
	Group string
	// Decoding is the rule that decodes image files of data sets that are Yours.
	Decoding rgb.Decoding
	// Boxes make the boxes in images that are Yours the items; nil for whole images.
	Boxes *Boxes
	// FollowLinks follows symbolic links out of the root folder of a data set that is Yours;
	// otherwise they are skipped.
	FollowLinks bool
	// Images is the current folder of the images from which features were computed; empty uses
	// the recorded one.
	Images string
	// Looked reports the number of files examined so far while a folder of the user's images is
	// listed; it may be nil.
	Looked func(files int)

	root   string // the folder of one's own images, absolute, if known
	known  index  // see lister
	leaves func(id string) error
	groups *grouper // and with a rule, folders in folders are read
}

// Open opens the data set called name, one of Names, in the folder root, which is ignored for
// data sets that are not files.
func Open(name, root string, opts Options) (*Dataset, Truth, error) {
	i, ok := Lookup(name)
	if !ok {
		return nil, Truth{}, fmt.Errorf("there is no data set %q; choose one of %s", name, strings.Join(Names(), ", "))
	}
	if !i.Yours && (opts.Classes != nil || opts.Labels != nil) {
		return nil, Truth{}, fmt.Errorf("data set %s has its own classes: classes and labels can be set for your own images only", name)
	}
	if opts.Decoding != rgb.Stored && (!i.Yours || i.Vectors) {
		return nil, Truth{}, fmt.Errorf("data set %s: decoding %s is for folders of your own images", name, opts.Decoding.Word())
	}
	if opts.Boxes != nil {
		if !i.Yours || i.Vectors {
			return nil, Truth{}, fmt.Errorf("data set %s: boxes are for folders of your own images; features are of the boxes that they were computed from", name)
		}
		opts.Decoding = opts.Decoding.OfBoxes()
	}
	var err error
	if opts.groups, err = newGrouper(opts.Group, opts.Labels); err != nil {
		return nil, Truth{}, err
	}
	d, t, err := i.openAt(root, opts)
	if err == nil {
		err = d.setGroups(cmp.Or(opts.groups, d.fileGroups))
		if opts.Group != "" && slices.ContainsFunc(opts.Labels, func(l Label) bool { return l.Group != "" }) {
			d.Notes = append(d.Notes, "groups by the rule "+opts.Group+"; those of the labels are not used")
		}
	}
	if err != nil {
		return nil, Truth{}, err
	}
	return d, t, nil
}

// openAt opens the data set from a root as people name it.
func (i Info) openAt(root string, opts Options) (*Dataset, Truth, error) {
	name := i.Name
	if !i.Files {
		return i.open("", opts)
	}
	if i.Vectors {
		root, err := filePath(root)
		if err != nil {
			return nil, Truth{}, fmt.Errorf("data set %s: %w", name, err)
		}
		d, t, err := i.open(root, opts)
		if err != nil {
			return nil, Truth{}, fmt.Errorf("data set %s: %w", name, err)
		}
		return d, t, nil
	}
	root, err := folderPath(root)
	if err != nil {
		return nil, Truth{}, fmt.Errorf("data set %s: %w", name, err)
	}
	var known *knownIndex
	if cacheDir, err := CacheFolder(opts.CacheDir); err == nil { // without it, Prepare reports the error
		path := indexPath(cacheDir, name, root)
		known = &knownIndex{path, readIndex(path)}
		opts.known = known.index
	}
	d, t, err := i.open(root, opts)
	if err != nil {
		return nil, Truth{}, fmt.Errorf("%w (in %s)", err, root)
	}
	if s, ok := d.source.(*fileSource); ok {
		s.root = root
		s.known.Store(known)
		s.decoding = opts.Decoding
	}
	return d, t, nil
}

// filePath makes the path of an existing file absolute.
func filePath(root string) (string, error) {
	if root == "" {
		return "", errors.New("it is read from a file: give its path as the root")
	}
	info, err := os.Stat(root)
	if err != nil {
		return "", fmt.Errorf("file %s: %w", root, regular.Bare(err))
	}
	if info.IsDir() {
		return "", fmt.Errorf("%s is a folder, want a .npz, .safetensors or .parquet file", root)
	}
	if err := foreign.Check(root, foreign.NumPy, foreign.Parquet); err != nil {
		return "", err
	}
	return filepath.Abs(root)
}

// GoneError is the error of a folder of images that does not exist, perhaps because it has been
// renamed or moved.
type GoneError struct{ Root string }

func (e *GoneError) Error() string { return "root folder " + e.Root + ": no such file or directory" }

func (e *GoneError) Unwrap() error { return fs.ErrNotExist }

// folderPath makes the path of an existing folder absolute.
func folderPath(root string) (string, error) {
	if root == "" {
		return "", errors.New("it is read from files: give their folder as the root")
	}
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &GoneError{root}
	}
	if err != nil {
		return "", fmt.Errorf("root folder %s: %w", root, regular.Bare(err))
	}
	if !info.IsDir() {
		return "", cmp.Or(foreign.Check(root), fmt.Errorf("root %s is not a folder", root))
	}
	return filepath.Abs(root)
}

func openFolder(root string, opts Options) (*Dataset, Truth, error) {
	opts.root = root
	if !opts.FollowLinks {
		r, err := os.OpenRoot(root)
		if err != nil {
			return nil, Truth{}, fmt.Errorf("data set folder: %w", err)
		}
		defer r.Close()
		opts.leaves = leaves(r, root)
	}
	d, t, err := Folder(os.DirFS(root), opts)
	return d, t, unread(err, root)
}

// noImages is the error of a folder that has none.
type noImages string

func (e noImages) Error() string { return string(e) }

// unread returns the error of a file that may have the images which a folder lacks, else err.
func unread(err error, root string) error {
	if none := noImages(""); errors.As(err, &none) {
		return cmp.Or(foreign.Folder(root), err)
	}
	return err
}

// leaves returns a predicate for links in a folder that lead out of it.
func leaves(r *os.Root, root string) func(id string) error {
	return func(id string) error {
		if _, err := r.Stat(filepath.FromSlash(id)); err != nil {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(id))); err == nil {
				return errors.New("a link out of the data set")
			}
			return errors.New("a link to nothing that can be read")
		}
		return nil
	}
}

func openPACS(root string, opts Options) (*Dataset, Truth, error) {
	var splits fs.FS
	if opts.SplitsDir != "" {
		dir, err := folderPath(opts.SplitsDir)
		if err != nil {
			return nil, Truth{}, fmt.Errorf("data set pacs: lists: %w", err)
		}
		splits = os.DirFS(dir)
	}
	d, t, err := PACS(os.DirFS(root), splits, opts.Exclude)
	if errors.Is(err, errNoLists) {
		// The lists may lie beside a root that holds images alone.
		if splits, beside := findPACSLists(os.DirFS(filepath.Dir(root))); beside == nil {
			return PACS(os.DirFS(root), splits, opts.Exclude)
		}
	}
	return d, t, err
}
