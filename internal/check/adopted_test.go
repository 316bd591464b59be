package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cs9gen/cs9gen/internal/inspect"
	"github.com/cs9gen/cs9gen/internal/pgtest"
)

// adoptedSite is a database with tables that somebody made, and the migrations
// that adopt all of one schema as inspect writes it.
func adoptedSite(t *testing.T, sql, schema string) *site {
	t.Helper()
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: pgtest.EmptyDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	_, err := s.conn.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	s.adopt(t, schema)
	return s
}

// adopt writes the definitions of a schema, and migrates.
func (s *site) adopt(t *testing.T, schema string) {
	t.Helper()
	result, err := inspect.Inspect(t.Context(), pgtest.Connect(t, s.url), inspect.Options{Schema: schema})
	require.NoError(t, err)
	s.change(t, string(result.File))
}

// change migrates to other definitions.
func (s *site) change(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	s.generate(t, path)
	s.up(t)
}

// TestSamplesThatAreAdoptedAreAsExpected: the scratch database needs the types
// and functions of the samples, and nothing of their tables, which have serial
// keys, partitions, triggers, and foreign keys in a circle.
func TestSamplesThatAreAdoptedAreAsExpected(t *testing.T) {
	for name, schema := range map[string]string{"rental": "public", "orders": "North Wind"} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile("../../testdata/samples/" + name + ".sql")
			require.NoError(t, err)
			prelude, _, ok := strings.Cut(string(text), "-- Tables\n")
			require.True(t, ok)
			s := adoptedSite(t, string(text), schema)
			require.Empty(t, s.check(t, Options{SetupSQL: prelude}))
		})
	}
}

// byHand is a schema with more than a definition says.
const byHand = `
	CREATE SCHEMA shop;
	COMMENT ON SCHEMA shop IS 'by hand';
	CREATE TABLE shop.region (code text PRIMARY KEY);
	CREATE TABLE shop.counts (
		week integer, region text COLLATE "C" REFERENCES shop.region ON UPDATE CASCADE, n integer NOT NULL DEFAULT 0 CHECK (n >= 0),
		id bigint GENERATED ALWAYS AS IDENTITY (START 5 INCREMENT 5),
		CONSTRAINT "Counts PK" PRIMARY KEY (week, region) WITH (fillfactor = 80)
	);
	CREATE INDEX counts_n_idx ON shop.counts (n) WITH (fillfactor = 70);
	CREATE TRIGGER touch BEFORE UPDATE ON shop.counts FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
	COMMENT ON COLUMN shop.counts.n IS 'how many';
	CREATE TABLE shop.sale (id serial, sold_on date NOT NULL, price numeric(10,2) DEFAULT 1, PRIMARY KEY (id, sold_on)) PARTITION BY RANGE (sold_on);
	CREATE TABLE shop.sale_2025 PARTITION OF shop.sale FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
	CREATE INDEX price_first ON ONLY shop.sale (price);
	CREATE INDEX "as it likes" ON shop.sale_2025 (price);
	ALTER INDEX shop.price_first ATTACH PARTITION shop."as it likes";
	ALTER TABLE shop.sale_2025 ALTER price SET DEFAULT 2;
	CREATE INDEX only_here ON shop.sale_2025 (sold_on);
	ALTER INDEX shop.sale_2025_pkey RENAME TO sale_2025_pk;
	GRANT SELECT, INSERT ON shop.counts TO PUBLIC;`

// TestAnAdoptedTableIsComparedAsItWasAdopted: what its definition says is
// expected, what it has besides may have been there before.
func TestAnAdoptedTableIsComparedAsItWasAdopted(t *testing.T) {
	s := adoptedSite(t, byHand, "shop")
	require.Empty(t, s.check(t, Options{}))
	pgtest.Exec(t, s.conn, "ALTER TABLE shop.region OWNER TO pg_database_owner",
		"CREATE INDEX more ON shop.counts (region)", "ALTER TABLE shop.counts ADD CONSTRAINT small CHECK (n < 1000)")
	require.Empty(t, s.check(t, Options{}), "nobody knows whether it was so before")

	differences := s.differences(t)
	for edit, want := range map[string]string{
		"ALTER TABLE shop.counts ADD more integer":                                                               "column shop.counts.more: expected nothing, found integer",
		"ALTER TABLE shop.counts ALTER n DROP DEFAULT":                                                           "column shop.counts.n: default: expected 0, found nothing",
		"ALTER INDEX shop.counts_n_idx RENAME TO renamed":                                                        "index shop.counts_n_idx: expected CREATE INDEX counts_n_idx ON shop.counts USING btree (n), found nothing",
		"DROP INDEX shop.counts_n_idx; CREATE INDEX counts_n_idx ON shop.counts (n DESC) WITH (fillfactor = 70)": "index shop.counts_n_idx: definition: expected CREATE INDEX counts_n_idx ON shop.counts USING btree (n), found CREATE INDEX counts_n_idx ON shop.counts USING btree (n DESC) WITH (fillfactor='70')",
		"ALTER TABLE shop.counts DROP CONSTRAINT counts_region_fkey":                                             "constraint counts_region_fkey of shop.counts: expected FOREIGN KEY (region) REFERENCES shop.region(code) ON UPDATE CASCADE, found nothing",
		"CREATE TABLE shop.sale_2026 PARTITION OF shop.sale FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')":    "table shop.sale_2026: expected nothing, found a partition of shop.sale",
		"ALTER TABLE shop.sale DETACH PARTITION shop.sale_2025":                                                  "table shop.sale_2025: partition of: expected shop.sale FOR VALUES FROM ('2025-01-01') TO ('2026-01-01'), found nothing",
		"GRANT EXECUTE ON PROCEDURE shop.counts_publish TO PUBLIC":                                               "routine shop.counts_publish(text, text, integer): grant EXECUTE to PUBLIC: expected nothing, found granted",
		"CREATE INDEX more_staged ON shop.counts_staging (n)":                                                    "index shop.more_staged: expected nothing, found CREATE INDEX more_staged ON shop.counts_staging USING btree (n)",
		"ALTER TABLE shop.counts_staging OWNER TO pg_database_owner":                                             "table shop.counts_staging: owner: expected that of the cs9 routines, found pg_database_owner",
	} {
		require.Equal(t, []string{want}, differences(t, strings.Split(edit, "; ")...), edit)
	}
	require.Zero(t, scratchDatabases(t, s))

	// SQL that makes the table itself says all of it
	setup := byHand + "ALTER TABLE shop.region OWNER TO pg_database_owner; CREATE INDEX more ON shop.counts (region); ALTER TABLE shop.counts ADD CONSTRAINT small CHECK (n < 1000)"
	require.Empty(t, s.check(t, Options{SetupSQL: setup}))
	pgtest.Exec(t, s.conn, "DROP TRIGGER touch ON shop.counts")
	require.Equal(t, []string{"trigger touch on shop.counts: expected CREATE TRIGGER touch BEFORE UPDATE ON shop.counts FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger(), found nothing"},
		s.check(t, Options{SetupSQL: setup}))
}

const countsOfHand = `
  - schema: shop
    name: counts
    adopt: true
    columns: [{name: week, type: INTEGER}, {name: region, type: TEXT, collation: C}, {name: n, type: INTEGER, not_null: true, default: 0}, {name: id, type: bigint, identity: always}]
    keys: [week, region]
    primary_key_name: Counts PK
    indexes: {n: [n]}
    checks: {n: n >= 0}
    foreign_keys: {region: {columns: [region], references: region, on_update: cascade}}
`

const regionOfHand = `
  - {schema: shop, name: region, adopt: true, columns: [{name: code, type: TEXT}], keys: [code], roles: {reader: check_reads_region}}
`

// TestTheHistoryOfAnAdoptedTable: a table is made as the definition had it that
// adopted it, and changes after that as the migrations say.
func TestTheHistoryOfAnAdoptedTable(t *testing.T) {
	const head = "version: 1\ntables:\n"
	s := &site{folder: filepath.Join(t.TempDir(), "migrations"), url: pgtest.EmptyDatabase(t)}
	s.conn = pgtest.Connect(t, s.url)
	_, err := s.conn.Exec(t.Context(), byHand+"DROP TRIGGER touch ON shop.counts; CREATE ROLE check_reads_region; GRANT USAGE, CREATE ON SCHEMA shop TO check_reads_region; GRANT SELECT ON shop.region TO check_reads_region;", pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)

	s.change(t, head+countsOfHand)
	_, err = Database(t.Context(), s.config(t), Options{Folder: s.folder})
	require.ErrorIs(t, err, ErrNotRepeatable)
	require.ErrorContains(t, err, "no migration makes the table that is referenced: foreign key counts_region_fkey of shop.counts: FOREIGN KEY (region) REFERENCES shop.region ON UPDATE CASCADE")
	require.Empty(t, s.check(t, Options{SetupSQL: "CREATE SCHEMA shop; CREATE TABLE shop.region (code text PRIMARY KEY)"}))

	s.change(t, head+countsOfHand+regionOfHand)
	require.Empty(t, s.check(t, Options{}), "the table that is referenced is adopted later")

	renamed := strings.Replace(strings.Replace(countsOfHand, "name: counts", "name: numbers\n    was: counts", 1), "{name: n, type: INTEGER, not_null: true", "{name: m, was: n, type: bigint, not_null: true", 1)
	renamed = strings.Replace(strings.Replace(renamed, "indexes: {n: [n]}", "indexes: {m: [m, week]}\n    comment: Counts", 1), "checks: {n: n >= 0}", "checks: {n: m >= 0}", 1)
	s.change(t, head+renamed+regionOfHand)
	require.Empty(t, s.check(t, Options{}))
	pgtest.Exec(t, s.conn, "DROP INDEX shop.numbers_m_idx", "COMMENT ON TABLE shop.numbers IS NULL")
	require.Equal(t, []string{
		"index shop.numbers_m_idx: expected CREATE INDEX numbers_m_idx ON shop.numbers USING btree (m, week), found nothing",
		"table shop.numbers: comment: expected Counts, found nothing",
	}, s.check(t, Options{}))
	pgtest.Exec(t, s.conn, "CREATE INDEX numbers_m_idx ON shop.numbers (m, week)", "COMMENT ON TABLE shop.numbers IS 'Counts'")

	withoutKeys, _, _ := strings.Cut(renamed, "    foreign_keys")
	swapped := strings.Replace(withoutKeys, "keys: [week", "publish: swap\n    keys: [week", 1)
	s.change(t, head+swapped+regionOfHand)
	require.Empty(t, s.check(t, Options{}), "its shape changes")

	s.change(t, head+swapped)
	require.Empty(t, s.check(t, Options{}), "one is given back")
	pgtest.Exec(t, s.conn, "ALTER TABLE shop.region ADD since date")
	s.change(t, head+swapped+strings.Replace(regionOfHand, "type: TEXT}", "type: TEXT}, {name: since, type: DATE}", 1))
	require.Empty(t, s.check(t, Options{}), "and adopted again, as it is now")
	pgtest.Exec(t, s.conn, "ALTER TABLE shop.region ALTER since TYPE text")
	require.Equal(t, []string{"column shop.region.since: type: expected date, found text"}, s.check(t, Options{}))
}
