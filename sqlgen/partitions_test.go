package sqlgen

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// splitTable loads a table that is split in one way.
func splitTable(t *testing.T, partitions string) *Table {
	t.Helper()
	return &loadText(t, `{version: 1, tables: [{schema: anon, name: t,
  columns: [{name: day, type: DATE}, {name: region, type: TEXT}, {name: id, type: INTEGER}], keys: [day, region, id],
  partitions: `+partitions+`}]}`)[0]
}

// Both forms are one definition wherever both can say it: the same hash, the same
// SQL, and no change from one to the other.
func TestTheLongFormOfPartitionsIsTheShortOne(t *testing.T) {
	short := splitTable(t, `{column: region, values: [north, "it's"]}`)
	long := splitTable(t, `{by: list, columns: [region], parts: [{name: north, values: [north]}, {name: "it's", values: ["it's"], default: false}]}`)
	require.Equal(t, short.Partitions, long.Partitions.Short())
	require.Equal(t, long.Partitions, short.Partitions.Long())
	require.Equal(t, long.Partitions, long.Partitions.Long())
	one, err := generateTable(short)
	require.NoError(t, err)
	other, err := generateTable(long)
	require.NoError(t, err)
	require.Equal(t, one.SQL, other.SQL)
	require.Equal(t, NamesOf(short), NamesOf(long))

	for _, more := range []string{
		`{by: list, columns: [region], parts: [{name: north, values: [north]}, {name: south, values: ["it's"]}]}`,
		`{by: list, columns: [region], parts: [{name: north, values: [north]}, {name: "it's", values: ["it's"], table: x}]}`,
		`{by: list, columns: [region], parts: [{name: north, values: [north]}, {name: "it's", values: ["it's"], null_too: true}]}`,
		`{by: list, columns: [region], parts: [{name: north, values: [north]}, {name: "it's", values: ["it's"], partitions: {column: id, values: [1]}}]}`,
		`{by: list, columns: [region], parts: [{name: north, values: [north]}, {name: "it's", default: true}]}`,
	} {
		other := splitTable(t, more)
		require.NotNil(t, other.Partitions.Short().Parts, more)
		was, err := hashOf(short)
		require.NoError(t, err)
		is, err := hashOf(other)
		require.NoError(t, err)
		require.NotEqual(t, was, is, more)
	}
}

// The names of partitions are derived from those of the parts, or are as they are
// given; a part's exact name changes no other.
func TestNamesOfPartsOfParts(t *testing.T) {
	n := NamesOf(splitTable(t, `{by: list, columns: [region], parts: [
    {name: north, values: [a], table: up, partitions: {by: hash, columns: [id], parts: [{name: h0, modulus: 2, remainder: 0}, {name: h1, modulus: 2, remainder: 1, table: odd}]}},
    {name: south, values: [b]}, {name: rest, default: true, partitions: {column: id, values: [1, 2]}}]}`))
	require.Equal(t, Named[string]{{"north", "up"}, {"south", "t_south"}, {"rest", "t_rest"}}, n.Partitions)
	require.Equal(t, Named[Named[string]]{
		{"north", Named[string]{{"h0", "t_north_h0"}, {"h1", "odd"}}},
		{"rest", Named[string]{{"1", "t_rest_1"}, {"2", "t_rest_2"}}},
	}, n.SubPartitions)
}

// The check of the staging template says which rows have a partition, as far as
// columns can say it.
func TestTheCheckOfTheStagingTemplate(t *testing.T) {
	const (
		hash   = `{by: hash, columns: [id], parts: [{name: h0, modulus: 2, remainder: 0}, {name: h1, modulus: 2, remainder: 1}]}`
		one    = `{column: id, values: [1]}`
		two    = `{column: id, values: [1, 2]}`
		rest   = `{by: list, columns: [id], parts: [{name: one, values: [1]}, {name: rest, default: true}]}`
		months = `{by: range, columns: [day], parts: [{name: a, from: [2024-01-01], to: [2024-02-01]}, {name: c, from: [2024-03-01], to: [2024-04-01]}, {name: b, from: [2024-02-01], to: [2024-03-01]}`
	)
	for partitions, want := range map[string]string{
		`{column: region, values: [a, "it's"]}`: `region IN ('a', 'it''s')`,
		`{by: list, columns: [region], parts: [{name: a, values: [a, b]}, {name: b, values: [c], null_too: true}]}`: `(region IN ('a', 'b', 'c')) OR (region IS NULL)`,
		`{by: list, columns: [region], parts: [{name: a, null_too: true}]}`:                                         `region IS NULL`,
		`{by: list, columns: [region], parts: [{name: a, values: [a]}, {name: b, default: true}]}`:                  ``,
		`{by: list, columns: [region], parts: [{name: a, default: true}]}`:                                          ``,
		hash:          ``,
		months + `]}`: `day >= '2024-01-01' AND day < '2024-04-01'`,
		months + `, {name: d, from: [2025-01-01], to: [MAXVALUE]}]}`:                                                                                                           `(day >= '2024-01-01' AND day < '2024-04-01') OR (day >= '2025-01-01')`,
		months + `, {name: d, from: [MINVALUE], to: [2024-01-01]}]}`:                                                                                                           `day < '2024-04-01'`,
		months + `, {name: d, from: [MINVALUE], to: [2024-01-01]}, {name: e, from: [2024-04-01], to: [MAXVALUE]}]}`:                                                            ``,
		months + `, {name: d, default: true}]}`:                                                                                                                                ``,
		`{by: range, columns: [region], parts: [{name: a, from: [a], to: [b]}, {name: b, from: [c], to: [d]}, {name: c, from: [d], to: [c]}]}`:                                 `region >= 'a' AND region < 'b'`,
		`{by: range, columns: [day, id], parts: [{name: a, from: [2024-01-01, 5], to: [2024-02-01, MINVALUE]}]}`:                                                               `((day, id) >= ('2024-01-01', '5')) AND day < '2024-02-01'`,
		`{by: range, columns: [day, id], parts: [{name: a, from: [2024-01-01, MAXVALUE], to: [2024-02-01, MAXVALUE]}]}`:                                                        `day > '2024-01-01' AND day <= '2024-02-01'`,
		`{by: range, columns: [day, id], parts: [{name: a, from: [MINVALUE, MINVALUE], to: [2024-02-01, 7]}]}`:                                                                 `(day, id) < ('2024-02-01', '7')`,
		`{by: list, columns: [region], parts: [{name: a, values: [a], partitions: ` + hash + `}, {name: b, values: [b]}]}`:                                                     `region IN ('a', 'b')`,
		`{by: list, columns: [region], parts: [{name: a, values: [a], partitions: ` + one + `}, {name: b, values: [b]}, {name: c, values: [c], partitions: ` + one + `}]}`:     `(region IN ('a', 'c') AND id IN ('1')) OR (region IN ('b'))`,
		`{by: list, columns: [region], parts: [{name: a, values: [a], partitions: ` + rest + `}, {name: b, default: true}]}`:                                                   ``,
		`{by: list, columns: [region], parts: [{name: a, values: [a], partitions: ` + one + `}, {name: b, default: true}]}`:                                                    `(NOT (region IN ('a'))) OR (id IN ('1'))`,
		`{by: list, columns: [region], parts: [{name: a, values: [a]}, {name: b, default: true, partitions: ` + one + `}]}`:                                                    `(region IN ('a')) OR (id IN ('1'))`,
		`{by: list, columns: [region], parts: [{name: b, default: true, partitions: ` + one + `}]}`:                                                                            `id IN ('1')`,
		`{by: list, columns: [region], parts: [{name: a, values: [a], partitions: ` + two + `}, {name: b, default: true, partitions: ` + one + `}]}`:                           `((NOT (region IN ('a'))) OR (id IN ('1', '2'))) AND ((region IN ('a')) OR (id IN ('1')))`,
		`{by: hash, columns: [region], parts: [{name: h0, modulus: 2, remainder: 0, partitions: ` + one + `}, {name: h1, modulus: 2, remainder: 1}]}`:                          ``,
		`{by: hash, columns: [region], parts: [{name: h0, modulus: 2, remainder: 0, partitions: ` + one + `}, {name: h1, modulus: 2, remainder: 1, partitions: ` + two + `}]}`: `(id IN ('1')) OR (id IN ('1', '2'))`,
	} {
		require.Equal(t, want, takenBy(splitTable(t, strings.ReplaceAll(partitions, "\n", " ")).Partitions), partitions)
	}
}

func TestNamesThatChangePlaces(t *testing.T) {
	require.Equal(t, []rename{{"b", "c"}, {"a", "b"}, {"d", "e"}}, inFreeOrder([]rename{{"a", "b"}, {"b", "c"}, {"d", "e"}}))
	require.Equal(t, []rename{{"a", "a_cs9_aside"}, {"c", "a"}, {"b", "c"}, {"a_cs9_aside", "b"}}, inFreeOrder([]rename{{"a", "b"}, {"b", "c"}, {"c", "a"}}))
	require.Empty(t, inFreeOrder(nil))
}
