package main

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
)

// locations is how many rows a day has.
const locations = 1000

// row is one row of the measured tables. Its key is (Day, Location).
type row struct {
	Day      int32
	Location string
	N        int32
	Rate     float64
	Status   string
}

var (
	locationNames = nameLocations()
	statuses      = [...]string{"registered", "confirmed", "corrected", "withdrawn"}
)

// order is the order in which rows arrive.
type order string

const (
	random order = "random" // of keys, the same in every run: see dataset.seed
	sorted order = "sorted" // by key
)

// change is which rows have another n than they have otherwise.
type change string

const (
	nothing   change = ""
	scattered change = "scattered" // every hundredth row, by key
	last      change = "last"      // the last hundredth of the rows, by key
)

// dataset is a number of rows, in an order.
type dataset struct {
	rows    int
	order   order
	seed    uint64
	changed change
}

// row returns the row with a number, which is that of its key: 0 is the first.
func (d dataset) row(number int) row {
	h := mix(uint64(number)) //nolint:gosec // it is not negative
	r := row{
		Day:      int32(number / locations), //nolint:gosec // a day has 1,000 rows, so there are few days
		Location: locationNames[number%locations],
		N:        int32(h % 100_000), //nolint:gosec // below 100,000
		Status:   statuses[h>>32%4],
	}
	r.Rate = float64(r.N) / 1000
	if d.changed == scattered && number%100 == 0 || d.changed == last && number >= d.rows-d.rows/100 {
		r.N += 100_000
	}
	return r
}

func nameLocations() (names [locations]string) {
	for i := range names {
		names[i] = fmt.Sprintf("location%04d", i)
	}
	return names
}

// all yields the rows in their order, without keeping any.
func (d dataset) all() iter.Seq2[row, error] { return d.part(0, 1) }

// part yields one of n equal parts of the rows, those that follow each other.
func (d dataset) part(i, n int) iter.Seq2[row, error] {
	from, upto := d.rows*i/n, d.rows*(i+1)/n
	return func(yield func(row, error) bool) {
		at := d.permutation()
		for i := from; i < upto; i++ {
			if !yield(d.row(at(i)), nil) {
				return
			}
		}
	}
}

// sum is the sum of n over all rows.
func (d dataset) sum() int64 {
	var sum int64
	for i := range d.rows {
		sum += int64(d.row(i).N)
	}
	return sum
}

// permutation returns the number of the row that comes i-th. Random is a
// Feistel network of four rounds over the least even number of bits that holds
// all numbers, walked until it hits one of them: it needs no memory.
func (d dataset) permutation() func(i int) int {
	if d.order == sorted {
		return func(i int) int { return i }
	}
	half := 1
	for 1<<(2*half) < d.rows {
		half++
	}
	mask := uint64(1)<<half - 1
	var keys [4]uint64
	for i := range keys {
		keys[i] = mix(d.seed + uint64(i))
	}
	return func(i int) int {
		v := uint64(i) //nolint:gosec // it is not negative
		for {
			left, right := v>>half, v&mask
			for _, key := range keys {
				left, right = right, left^(mix(right^key)&mask)
			}
			if v = left<<half | right; v < uint64(d.rows) { //nolint:gosec // it is not negative
				return int(v) //nolint:gosec // it is below rows
			}
		}
	}
}

// mix is the finalizer of splitmix64.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// write writes the rows in the text format of COPY.
func (d dataset) write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<20)
	var line []byte
	for r, err := range d.all() {
		if err != nil {
			return err
		}
		line = strconv.AppendInt(line[:0], int64(r.Day), 10)
		line = append(line, '\t')
		line = append(line, r.Location...)
		line = append(line, '\t')
		line = strconv.AppendInt(line, int64(r.N), 10)
		line = append(line, '\t')
		line = strconv.AppendFloat(line, r.Rate, 'g', -1, 64)
		line = append(line, '\t')
		line = append(line, r.Status...)
		line = append(line, '\n')
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("write rows: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	return nil
}

// name names the dataset, for files and databases.
func (d dataset) name() string {
	name := fmt.Sprintf("%s_%d", d.order, d.rows)
	if d.changed != nothing {
		name += "_" + string(d.changed)
	}
	return name
}

// file writes the rows into a file of the lab, once, and returns its path.
func (l *lab) file(d dataset) (path string, err error) {
	path = l.dir + "/" + d.name() + ".copy"
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path + ".part")
	if err != nil {
		return "", fmt.Errorf("write rows: %w", err)
	}
	if err := d.write(f); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", fmt.Errorf("write rows: %w", err)
	}
	if err := os.Rename(path+".part", path); err != nil {
		return "", fmt.Errorf("write rows: %w", err)
	}
	return path, nil
}
