package studio

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/ledg-go/ledg/ceg/labels"
)

// task is a task, with its annotations where an export has it.
type task struct {
	ID          int                        `json:"id"`
	Data        map[string]json.RawMessage `json:"data"`
	Annotations []json.RawMessage          `json:"annotations"`
}

// predictTask is a task of a prediction request.
type predictTask struct {
	ID   int             `json:"id"`
	Data json.RawMessage `json:"data"`
}

// predictRequest is as much of a request for predictions as is used.
type predictRequest struct {
	project, config string
	tasks           []predictTask
}

// readPredict reads a request for predictions task by task.
func readPredict(r *http.Request) (q predictRequest, err error) {
	d := json.NewDecoder(r.Body)
	err = fields(d, func(key string) error {
		switch key {
		case "project":
			return text(d, maxText, &q.project)
		case "label_config":
			return text(d, maxConfig, &q.config)
		case "tasks":
			q.tasks = nil
			return elements(d, maxTasks, "tasks", func() error {
				var t predictTask
				if err := d.Decode(&t); err != nil {
					return err
				}
				if len(t.Data) > maxTask {
					return tooMuch(fmt.Sprintf("task %d: its data are longer than %d bytes", t.ID, maxTask))
				}
				q.tasks = append(q.tasks, t)
				return nil
			})
		}
		return d.Decode(new(nothing))
	})
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("something follows it")
		}
	}
	if err != nil {
		return q, undecoded(err)
	}
	return q, nil
}

// eachTask reads the tasks of an export one by one, of at most maxTasks tasks.
func eachTask(r io.Reader, f func(t task) error) error {
	d := json.NewDecoder(r)
	err := elements(d, maxExported, "tasks", func() error {
		var t task
		if err := d.Decode(&t); err != nil {
			return err
		}
		return f(t)
	})
	if err != nil {
		return fmt.Errorf("the export of Label Studio cannot be read: %w", labels.Undecoded(err))
	}
	return nil
}
