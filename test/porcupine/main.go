// Command lockjudge reads histories of locks, one JSON array of operations a line, and says of each whether a lock with leases and
// fencing tokens could have answered so. Porcupine searches for an order of the operations; the lock below says which orders are possible.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// After this long without an order, and without a proof that there is none, the answer is "unknown".
const limit = 60 * time.Second

// step is one operation of the history: what a claim did to its key, or what the register answered to the claim's holder.
type step struct {
	Kind     string `json:"kind"`
	Key      string `json:"key"`
	Claim    int    `json:"claim"`
	Units    int    `json:"units"`
	Capacity int    `json:"capacity"`
	// Decimal digits padded with zeros, so that the order of texts is the order of numbers. Empty: the hold has no token that is judged.
	Token    string `json:"token"`
	Accepted bool   `json:"accepted"`
	Call     int64  `json:"call"`
	Return   int64  `json:"return"`
}

type holder struct {
	claim, units, capacity int
}

// lock is the state of one key. It is a value: each step makes another one.
type lock struct {
	// The token of the last exclusive grant.
	token string
	// The highest token that the register has seen.
	register string
	holders  []holder
}

func (l lock) index(claim int) int {
	for i, h := range l.holders {
		if h.claim == claim {
			return i
		}
	}
	return -1
}

// fits tells whether the step's claim may hold beside the holders: the units of all are within the smallest capacity.
func (l lock) fits(s step) bool {
	units, capacity := s.Units, s.Capacity
	for _, h := range l.holders {
		units += h.units
		if h.capacity < capacity {
			capacity = h.capacity
		}
	}
	return units <= capacity
}

func (l lock) with(s step) lock {
	holders := append(append([]holder{}, l.holders...), holder{s.Claim, s.Units, s.Capacity})
	sort.Slice(holders, func(a, b int) bool { return holders[a].claim < holders[b].claim })
	l.holders = holders
	if s.Token != "" {
		l.token = s.Token
	}
	return l
}

func (l lock) without(i int) lock {
	l.holders = append(append([]holder{}, l.holders[:i]...), l.holders[i+1:]...)
	return l
}

// apply is the rule: a grant fits and raises the token, a holder is seen only while it holds, and the register takes the newest token.
func (l lock) apply(s step) (bool, lock) {
	at := l.index(s.Claim)
	switch s.Kind {
	case "grant":
		return at < 0 && l.fits(s) && (s.Token == "" || s.Token > l.token), l.with(s)
	case "seen":
		return at >= 0, l
	case "end":
		if at < 0 {
			return false, l
		}
		return true, l.without(at)
	case "claim", "write":
		if !s.Accepted {
			return at < 0 || s.Token < l.register, l
		}
		if s.Token < l.register {
			return false, l
		}
		if s.Kind == "claim" {
			l.register = s.Token
		}
		return true, l
	}
	panic("no such kind of step: " + s.Kind)
}

func (l lock) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", l.token, l.register)
	for _, h := range l.holders {
		fmt.Fprintf(&b, " %d", h.claim)
	}
	return b.String()
}

var model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		keys := map[string][]porcupine.Operation{}
		for _, operation := range history {
			key := operation.Input.(step).Key
			keys[key] = append(keys[key], operation)
		}
		parts := [][]porcupine.Operation{}
		for _, part := range keys {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() interface{} { return lock{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		return state.(lock).apply(input.(step))
	},
	Equal: func(a, b interface{}) bool { return a.(lock).text() == b.(lock).text() },
}

func judge(line []byte) (string, error) {
	var steps []step
	if err := json.Unmarshal(line, &steps); err != nil {
		return "", err
	}
	if len(steps) == 0 {
		return "empty", nil
	}
	history := make([]porcupine.Operation, len(steps))
	for i, s := range steps {
		history[i] = porcupine.Operation{Input: s, Call: s.Call, Return: s.Return}
	}
	switch porcupine.CheckOperationsTimeout(model, history, limit) {
	case porcupine.Ok:
		return "possible", nil
	case porcupine.Illegal:
		return "impossible", nil
	}
	return "unknown", nil
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		answer, err := judge(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(answer)
	}
}
