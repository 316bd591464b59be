package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
)

// day is what the file says of one location on one day.
type day struct {
	location string
	n        int
	pop      int
}

// readDays reads the file once, and returns its days by week.
func readDays(path string) (map[string][]day, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	rows := csv.NewReader(file)
	header, err := rows.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: read header: %w", path, err)
	}
	var at [4]int
	for i, name := range []string{"yrwk", "location_code", "n", "pop"} {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("%s: there is no column %s", path, name)
		}
	}
	days := map[string][]day{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return days, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		n, errN := strconv.Atoi(row[at[2]])
		pop, errPop := strconv.Atoi(row[at[3]])
		if err := errors.Join(errN, errPop); err != nil {
			line, _ := rows.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		yrwk := row[at[0]]
		days[yrwk] = append(days[yrwk], day{location: row[at[1]], n: n, pop: pop})
	}
}

// sum adds the days of one week up, for each location.
func sum(yrwk string, days []day) []cases {
	var rows []cases
	at := map[string]int{}
	for _, d := range days {
		i, ok := at[d.location]
		if !ok {
			i = len(rows)
			at[d.location] = i
			rows = append(rows, cases{Yrwk: yrwk, LocationCode: d.location})
		}
		rows[i].Cases += d.n
		rows[i].CasesPer100000 = float64(rows[i].Cases) * 100000 / float64(d.pop)
	}
	return rows
}
