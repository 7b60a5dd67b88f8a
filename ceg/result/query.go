package result

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Query is one queried label: a line of queries.csv.
type Query struct {
	// Round is 0 for the initial labels; query rounds count from 1.
	Round int
	// ID names the example; Domain and Class are names.
	ID, Domain, Class string
	// Scores are the strategy's scores of the example; nil for a random selection, such as the
	// initial labels.
	Scores *Scores
	// Score is the score by a strategy that the program registered, higher is better; else nil.
	Score *float64
}

// Scores are CEG's scores (the exploration of Yuan et al. 2022): uncertainty, representativeness
// and diversity, their ranks among the candidates of the round (0 is best), and the weighted sum
// of ranks R, whose smallest values are queried.
type Scores struct {
	Su, Sr, Sd          float64
	RankU, RankR, RankD int
	R                   float64
}

var queryHead = []string{"round", "id", "domain", "class", "s_u", "s_r", "s_d", "rank_u", "rank_r", "rank_d", "r"}

// scoreColumn is the last column in a run with a strategy that the program registered.
const scoreColumn = "score"

func (q Query) fields() ([]string, error) {
	if q.Round < 0 || q.ID == "" {
		return nil, fmt.Errorf("query of %q has round %d, want an ID and a round of 0 or more", q.ID, q.Round)
	}
	row := []string{strconv.Itoa(q.Round), datasets.Guard(q.ID), datasets.Guard(q.Domain), datasets.Guard(q.Class), "", "", "", "", "", "", ""}
	if s := q.Scores; s != nil {
		for i, v := range []float64{s.Su, s.Sr, s.Sd, s.R} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("query of %q in round %d: %s is %v", q.ID, q.Round, []string{"s_u", "s_r", "s_d", "r"}[i], v)
			}
		}
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
		copy(row[4:], []string{
			number(s.Su), number(s.Sr), number(s.Sd),
			strconv.Itoa(s.RankU), strconv.Itoa(s.RankR), strconv.Itoa(s.RankD), number(s.R),
		})
	}
	if s := q.Score; s != nil {
		if *s-*s != 0 {
			return nil, fmt.Errorf("query of %q in round %d: %s is %v", q.ID, q.Round, scoreColumn, *s)
		}
		row = append(row, strconv.FormatFloat(*s, 'g', -1, 64))
	}
	return row, nil
}

// AppendQueries appends lines to queries.csv, after the header if the file is new, and syncs
// them to disk. Equal queries give equal bytes.
func (d *Dir) AppendQueries(queries []Query) error {
	old, err := firstBytes(d.File(QueriesFile))
	if err != nil {
		return err
	}
	head := withScore(queryHead, old)
	if d.scored && len(old) == 0 {
		head = append(slices.Clone(queryHead), scoreColumn)
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if len(old) == 0 {
		if err := w.Write(head); err != nil {
			return err
		}
	}
	for _, q := range queries {
		row, err := q.fields()
		if err != nil {
			return err
		}
		row = append(row, "")[:len(head)] // an older version's file has no score
		if err := w.Write(row); err != nil {
			return err
		}
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return d.write(func() error { return appendFile(d.File(QueriesFile), b.Bytes()) })
}

// firstBytes returns the first kilobyte of a file, which holds its header; nothing of a file that is not there.
func firstBytes(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, 1024))
}

// withScore returns a file's columns: those given, and [scoreColumn] if its first line ends with that.
func withScore(head []string, data []byte) []string {
	if first, _, _ := bytes.Cut(data, []byte("\n")); bytes.HasSuffix(first, []byte(","+scoreColumn)) {
		return append(slices.Clone(head), scoreColumn)
	}
	return head
}

// ReadQueries reads a queries.csv. Another header, a malformed line and a last line without
// newline are errors that name file and line.
func ReadQueries(fsys fs.FS, name string) ([]Query, error) {
	data, err := regular.ReadFS(fsys, name, maxLines)
	if err != nil {
		return nil, err
	}
	return parseQueries(name, data)
}

// QueriesIn reads the queries of the run in a folder. An error names the folder.
func QueriesIn(dir string) ([]Query, error) {
	queries, err := ReadQueries(os.DirFS(dir), QueriesFile)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return queries, nil
}

func parseQueries(name string, data []byte) (queries []Query, err error) {
	err = parseCSV(name, data, withScore(queryHead, data), func(row []string) error {
		q, err := parseQuery(row)
		queries = append(queries, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	return queries, nil
}

func parseQuery(row []string) (Query, error) {
	var failed error
	fail := func(i int, want string) {
		if failed == nil {
			failed = fmt.Errorf("%s is %q, want %s", append(slices.Clone(queryHead), scoreColumn)[i], row[i], want)
		}
	}
	count := func(i int) int {
		n, err := strconv.Atoi(row[i])
		if err != nil || n < 0 {
			fail(i, "a whole number, 0 or more")
		}
		return n
	}
	number := func(i int) float64 {
		v, err := strconv.ParseFloat(row[i], 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			fail(i, "a number")
		}
		return v
	}
	q := Query{Round: count(0), ID: datasets.Unguard(row[1]), Domain: datasets.Unguard(row[2]), Class: datasets.Unguard(row[3])}
	if q.ID == "" {
		fail(1, "an example's ID")
	}
	if own := len(queryHead); len(row) > own && row[own] != "" {
		v := number(own)
		q.Score = &v
	}
	if slices.ContainsFunc(row[4:len(queryHead)], func(s string) bool { return s != "" }) {
		q.Scores = &Scores{
			Su: number(4), Sr: number(5), Sd: number(6),
			RankU: count(7), RankR: count(8), RankD: count(9), R: number(10),
		}
	}
	return q, failed
}

// LastRound splits a run's queries into the last round and the queries before it. Queries without
// a round after the initial labels are an error.
func LastRound(queries []Query) (before, newest []Query, err error) {
	last := 0
	for _, q := range queries {
		last = max(last, q.Round)
	}
	if last == 0 {
		return nil, nil, errors.New("the run has no query rounds")
	}
	for _, q := range queries {
		if q.Round < last {
			before = append(before, q)
		} else {
			newest = append(newest, q)
		}
	}
	return before, newest, nil
}

// Rows returns the positions of queried images in a list of IDs. An unknown ID is an error.
func Rows(ids []string, queries []Query) ([]int, error) {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	var list []int
	for _, q := range queries {
		i, ok := at[q.ID]
		if !ok {
			return nil, fmt.Errorf("%s was queried, but is not in the pool", q.ID)
		}
		list = append(list, i)
	}
	return list, nil
}

// Chosen describes in a few sentences how a run's labels were selected: initial is the strategy
// before training, empty for random, and strategy the one in later rounds. unqueried is the number
// of labels that were not queried.
func Chosen(queries []Query, unqueried int, initial, strategy string) string {
	later := 0
	for _, q := range queries {
		later += min(q.Round, 1)
	}
	var text []string
	say := func(n int, format string, args ...any) {
		if n > 0 {
			text = append(text, fmt.Sprintf(format, args...))
		}
	}
	first, _ := config.SelectionName(cmp.Or(initial, active.Uniform{}.Name()))
	name, _ := config.SelectionName(strategy)
	say(unqueried, "%d labels were added without a query.", unqueried)
	say(len(queries)-later-unqueried, "Round 0, before training: %s.", first)
	say(later, "Later rounds, %d labels: %s.", later, name)
	return strings.Join(text, " ")
}
