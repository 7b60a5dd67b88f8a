package active

import (
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// Budget is the total number of labels, including the initial ones: a number such as "120", or a
// percentage of the pool such as "5%" or "2.5%". Its text form is the parsed text. The zero
// value is invalid.
type Budget struct{ text string }

// ParseBudget parses a budget: a whole number from 1, or a decimal number above 0
// and at most 100 that ends in "%". Signs, spaces and exponents are refused.
func ParseBudget(s string) (Budget, error) {
	fail := func() (Budget, error) {
		return Budget{}, fmt.Errorf("budget %q, want a number of labels such as 120 or a share of the pool such as 5%%", s)
	}
	number, percent := strings.CutSuffix(s, "%")
	if number == "" || len(number) > 18 || strings.Trim(number, "0123456789.") != "" || number[0] == '.' || strings.HasSuffix(number, ".") {
		return fail()
	}
	if !percent {
		if n, err := strconv.Atoi(number); err != nil || n < 1 {
			return fail()
		}
		return Budget{s}, nil
	}
	share, ok := new(big.Rat).SetString(number)
	if !ok || share.Sign() <= 0 || share.Cmp(big.NewRat(100, 1)) > 0 {
		return fail()
	}
	return Budget{s}, nil
}

// String returns the text that the budget was parsed from.
func (b Budget) String() string { return b.text }

// MarshalText returns the budget as [ParseBudget] reads it.
func (b Budget) MarshalText() ([]byte, error) { return []byte(b.text), nil }

// UnmarshalText parses as [ParseBudget] does.
func (b *Budget) UnmarshalText(text []byte) error {
	parsed, err := ParseBudget(string(text))
	if err == nil {
		*b = parsed
	}
	return err
}

// Labels returns the number of labels for a pool of the given size; percentages are rounded
// down. Less than one label, or more than the pool holds, is an error.
func (b Budget) Labels(pool int) (int, error) {
	exact, err := b.exact(pool)
	if err != nil {
		return 0, err
	}
	n := cluster.Floor(exact)
	if n < 1 {
		return 0, fmt.Errorf("budget %s of a pool of %d is less than one label", b.text, pool)
	}
	if n > pool {
		return 0, fmt.Errorf("budget %s is more than the pool of %d", b.text, pool)
	}
	return n, nil
}

func (b Budget) exact(pool int) (*big.Rat, error) {
	if b.text == "" {
		return nil, fmt.Errorf("no budget is set")
	}
	number, percent := strings.CutSuffix(b.text, "%")
	v, _ := new(big.Rat).SetString(number) // ParseBudget has checked it
	if percent {
		v.Mul(v, big.NewRat(int64(pool), 100))
	}
	return v, nil
}
