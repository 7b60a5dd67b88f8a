package studio

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/labels/exchange"
)

// control is what a labelling config asks: one of choices about an image.
type control struct {
	// From and To are the names of its Choices and of its Image, Key is the key of the image's
	// address in a task's data.
	From, To, Key string
	choices       []string
}

// readConfig finds the Choices of a labelling config that has the classes, in any order.
func readConfig(config string, classes []string) (*control, error) {
	d := xml.NewDecoder(strings.NewReader(config))
	d.Strict = false
	var controls []*control
	images := make(map[string]string) // data keys by names
	var at *control
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the labelling config cannot be read: %w", err)
		}
		if end, ok := t.(xml.EndElement); ok && end.Name.Local == "Choices" {
			at = nil
		}
		start, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		attr := make(map[string]string)
		for _, a := range start.Attr {
			attr[a.Name.Local] = a.Value
		}
		switch name := start.Name.Local; {
		case name == "Image":
			images[attr["name"]] = strings.TrimPrefix(cmp.Or(attr["value"], attr["valueList"]), "$")
		case name == "Choices":
			at = &control{From: attr["name"], To: attr["toName"]}
			controls = append(controls, at)
		case name == "Choice" && at != nil:
			at.choices = append(at.choices, cmp.Or(attr["alias"], attr["value"]))
		}
	}
	if len(images) == 0 {
		return nil, errors.New("the labelling config has no Image: this backend is about images")
	}
	var other error
	for _, c := range controls {
		key, ok := images[c.To]
		if !ok {
			continue
		}
		if c.Key = key; slices.Equal(slices.Sorted(slices.Values(c.ofClasses(classes))), slices.Sorted(slices.Values(classes))) {
			return c, nil
		}
		other = fmt.Errorf("the choices of %q are %s, and the run's classes %s: want the same", c.From, cmp.Or(exchange.Few(c.choices), "none"), exchange.Few(classes))
	}
	return nil, cmp.Or(other, errors.New("the labelling config has no Choices about an Image: this backend chooses one class of an image"))
}

// ofClasses returns the choices without "none of these", unless that is a class.
func (c *control) ofClasses(classes []string) []string {
	return slices.DeleteFunc(slices.Clone(c.choices), func(choice string) bool {
		return strings.EqualFold(choice, string(labels.None)) && !slices.Contains(classes, choice)
	})
}
