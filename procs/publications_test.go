package procs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// TestP6APublicationThatForbidsAStepIsSeenBeforehand: PostgreSQL takes no UPDATE
// and no DELETE of a published table whose rows a subscriber could not tell
// apart. It says so when the statement begins, whatever rows there are.
func TestP6APublicationThatForbidsAStepIsSeenBeforehand(t *testing.T) {
	t.Parallel()
	const (
		insert = "INSERT INTO {t} VALUES (9, 9)"
		upsert = "INSERT INTO {t} (k, n, cs9_op) VALUES (1, 9, 'u')"
		drop   = "SELECT cs9.drop_rows_where('m.t', 'k = 1')"
		split  = ", partitions: {column: k, values: [1, 2, 9]}"
	)
	nothing := "ALTER TABLE m.t REPLICA IDENTITY NOTHING"
	full := "ALTER TABLE m.t REPLICA IDENTITY FULL"
	for name, c := range map[string]struct {
		definition string
		after      []string
		forbids    []string
		allows     []string
		since      int // the version that has it
	}{
		"of all tables": {"", []string{nothing, "CREATE PUBLICATION p FOR ALL TABLES"},
			[]string{upsert, drop}, []string{insert, dropT}, 14},
		"of all tables, and one partition cannot be told apart": {split, []string{"ALTER TABLE m.t_1 REPLICA IDENTITY NOTHING", "CREATE PUBLICATION p FOR ALL TABLES"},
			[]string{upsert, drop}, []string{insert, dropT, "INSERT INTO {t} (k, n, cs9_op) VALUES (2, 9, 'u')"}, 14},
		"of one table": {"", []string{nothing, "CREATE PUBLICATION p FOR TABLE m.t"},
			[]string{upsert, drop}, []string{insert, dropT}, 14},
		"of one table, its key tells rows apart": {"", []string{"CREATE PUBLICATION p FOR TABLE m.t"},
			nil, []string{insert, upsert, drop}, 14},
		"of its updates alone": {"", []string{nothing, "CREATE PUBLICATION p FOR TABLE m.t WITH (publish = 'insert, update')"},
			[]string{upsert}, []string{insert, drop}, 14},
		"of its deletes alone": {"", []string{nothing, "CREATE PUBLICATION p FOR TABLE m.t WITH (publish = 'delete')"},
			[]string{drop}, []string{insert, upsert}, 14},
		"of its inserts alone": {"", []string{nothing, "CREATE PUBLICATION p FOR TABLE m.t WITH (publish = 'insert')"},
			nil, []string{insert, upsert, drop}, 14},
		"of columns without all that tells rows apart": {"", []string{full, "CREATE PUBLICATION p FOR TABLE m.t (k)"},
			[]string{upsert, drop}, []string{insert, dropT}, 15},
		"of columns with all that tells rows apart": {"", []string{"CREATE PUBLICATION p FOR TABLE m.t (k)"},
			nil, []string{insert, upsert, drop}, 15},
		"of rows that a column outside of it picks": {"", []string{"CREATE PUBLICATION p FOR TABLE m.t WHERE (n > 0)"},
			[]string{upsert, drop}, []string{insert, dropT}, 15},
		"of a schema": {"", []string{nothing, "CREATE PUBLICATION p FOR TABLES IN SCHEMA m"},
			[]string{upsert, drop}, []string{insert, dropT}, 15},
		"of a partition of the table": {split, []string{"ALTER TABLE m.t_1 REPLICA IDENTITY NOTHING", "CREATE PUBLICATION p FOR TABLE m.t_1"},
			[]string{upsert, drop}, []string{insert, dropT, "SELECT cs9.drop_rows_where('m.t', 'k = 2')"}, 14},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := oneTable(t, nil, "columns: [{name: k, type: integer}, {name: n, type: integer}], keys: [k]"+c.definition)
			if pgtest.Scalar[int](t, s.conn, "SELECT current_setting('server_version_num')::integer / 10000") < c.since {
				t.Skip("this PostgreSQL has no such publications")
			}
			for _, sql := range c.after {
				s.exec(sql)
			}
			for _, mode := range []string{"batched", "atomic"} {
				s.exec("TRUNCATE m.t")
				s.exec("INSERT INTO m.t VALUES (1, 1), (2, 2)")
				for _, statement := range c.forbids {
					s.stage("k", mode, statement, insert)
					err := s.refusedBeforehand("S9013", "is published for replication")
					require.Equal(t, "t", err.TableName, statement)
					s.exec("SELECT cs9.discard_run('t', 'k')")
				}
				for i, statement := range c.allows {
					// an atomic publish may delete and update in any partition, where a batched one truncates, or deletes in one
					if mode == "atomic" && statement != insert && c.forbids != nil && !strings.Contains(name, "deletes alone") {
						continue
					}
					s.exec("TRUNCATE m.t")
					s.exec("INSERT INTO m.t VALUES (1, 1), (2, 2)")
					key := mode + string(rune('a'+i))
					rows := []string{statement}
					if statement != insert {
						rows = append(rows, insert)
					}
					s.stage(key, mode, rows...)
					require.NoError(t, s.finish(), statement)
					s.exec("CALL cs9.publish('t', $1)", key)
					require.Contains(t, s.all(), "(9,9)")
				}
			}
		})
	}
}
