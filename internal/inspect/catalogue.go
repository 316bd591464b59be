package inspect

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// catalogue is what the database says of the relations of one schema. Whatever
// belongs to a relation goes by the relation's oid.
type catalogue struct {
	relations   []relation
	columns     map[uint32][]column
	indexes     map[uint32][]index
	constraints map[uint32][]constraint
	extras      map[uint32][]extra
	keys        map[uint32]partitionKey
	partitions  map[uint32][]partition  // by the parent
	routines    map[sqlgen.Routine]bool // of the schema
	registered  map[uint32]registration
	templates   map[uint32]string // the staging templates of cs9gen, and the table of each
	path        []pathSchema      // the search_path that database and role set
	counting    map[uint32]bool   // whether something on the relation may count on it
}

// relation is a table, or what could be taken for one.
type relation struct {
	OID             uint32
	Name            string
	Kind            string // as pg_class.relkind
	Persistence     string // as pg_class.relpersistence
	PartitionOf     string // "" unless it is a partition
	IsChild         bool   // of a parent by INHERITS
	IsParent        bool   // of children by INHERITS
	RowSecurity     bool
	ReplicaIdentity string
	Typed           bool // CREATE TABLE … OF
	Options         []string
	AccessMethod    string
	Tablespace      string
	Comment         string
	Extension       string // that it belongs to
}

type column struct {
	OID             uint32
	Name            string
	Type            string
	NotNull         bool
	Identity        string // as pg_attribute.attidentity
	Generated       string // as pg_attribute.attgenerated
	Expression      string // of the default, or of the generated column
	Collation       string // when it is not its type's
	CollationSchema string
	Comment         string
	Sequence        string // of an identity column
	SequenceSchema  string
	SequencePlain   bool // it has the options that an identity column has by itself
}

type index struct {
	OID              uint32 // of the table
	IndexOID         uint32
	Name             string
	Method           string
	Unique           bool
	Valid            bool
	NullsNotDistinct bool
	Constraint       bool // it belongs to one
	Attached         bool // it is a part of an index of the parent
	Keys             int  // the columns after them are INCLUDE
	Head             string
	Definition       string
	Items            []string // each key and included column, as Definition has it
	Pretty           []string // the same, with fewer brackets
	Columns          []string // the same, by name; "" for an expression
	Predicate        string
	Options          []string
	Tablespace       string
	Comment          string
}

type constraint struct {
	OID        uint32
	Name       string
	Type       string // as pg_constraint.contype
	Deferrable bool
	Deferred   bool
	Validated  bool
	Enforced   bool
	Period     bool // WITHOUT OVERLAPS, or PERIOD
	NoInherit  bool
	Inherited  bool // it comes from the parent
	IndexOID   uint32
	Columns    []string
	Expression string
	RefOID     uint32
	RefSchema  string
	RefTable   string
	RefColumns []string
	RefKey     bool   // these are the primary key
	OnUpdate   string // as pg_constraint.confupdtype
	OnDelete   string
	Match      string
	SetColumns bool // ON DELETE SET NULL (some of the columns)
	Comment    string
}

// extra is what belongs to a table and is no part of a definition.
type extra struct {
	OID  uint32
	Kind string // rule, disabled rule, trigger, statistics
	Name string
}

type partitionKey struct {
	OID        uint32
	Strategy   string // as pg_partitioned_table.partstrat
	Columns    []string
	Plain      bool   // columns only, each with its own collation and default operator class
	Definition string // as PARTITION BY writes it
}

type partition struct {
	Parent      uint32
	OID         uint32
	Name        string
	Schema      string
	Persistence string
	Detaching   bool
	Bound       string // as FOR VALUES writes it
}

// registration is what cs9.table_definition says of a table.
type registration struct {
	OID       uint32
	Template  uint32
	Mode      string
	Adopted   bool
	Runner    string
	Publisher string
	Path      []string // its search_path; empty for none
	Readers   []string // who may read it besides its owner and the runner
}

// pathSchema is a schema of the search_path that database and role set.
type pathSchema struct {
	Name   string
	Others string // who else may create in it; "" for nobody
}

// readCatalogue reads what belongs to the relations of a schema; path is the
// search_path that database and role set. The session's own holds no schema of
// users, so that each name is qualified.
func readCatalogue(ctx context.Context, tx pgx.Tx, schema string, path []string) (*catalogue, error) {
	c := &catalogue{routines: map[sqlgen.Routine]bool{}, keys: map[uint32]partitionKey{}, registered: map[uint32]registration{}, templates: map[uint32]string{}}
	var err error
	if c.relations, err = rowsOf[relation](ctx, tx, relationsSQL, schema); err != nil {
		return nil, err
	}
	var oids []uint32
	for _, r := range c.relations {
		oids = append(oids, r.OID)
	}
	parts, err := rowsOf[partition](ctx, tx, partitionsSQL, oids)
	if err != nil {
		return nil, err
	}
	c.partitions = by(parts, func(p partition) uint32 { return p.Parent })
	for _, p := range parts {
		oids = append(oids, p.OID)
	}
	columns, err := rowsOf[column](ctx, tx, columnsSQL, oids)
	if err != nil {
		return nil, err
	}
	c.columns = by(columns, func(c column) uint32 { return c.OID })
	indexes, err := rowsOf[index](ctx, tx, indexesSQL, oids)
	if err != nil {
		return nil, err
	}
	c.indexes = by(indexes, func(i index) uint32 { return i.OID })
	constraints, err := rowsOf[constraint](ctx, tx, constraintsSQL, oids)
	if err != nil {
		return nil, err
	}
	c.constraints = by(constraints, func(c constraint) uint32 { return c.OID })
	extras, err := rowsOf[extra](ctx, tx, extrasSQL, oids)
	if err != nil {
		return nil, err
	}
	c.extras = by(extras, func(e extra) uint32 { return e.OID })
	keys, err := rowsOf[partitionKey](ctx, tx, partitionKeysSQL, oids)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		c.keys[k.OID] = k
	}
	routines, err := rowsOf[sqlgen.Routine](ctx, tx, routinesSQL, schema)
	if err != nil {
		return nil, err
	}
	for _, r := range routines {
		c.routines[r] = true
	}
	if err := c.readPath(ctx, tx, path, oids); err != nil {
		return nil, err
	}
	return c, c.readRegistrations(ctx, tx, schema)
}

// readPath reads what counts on the search_path, and who may create in its schemas.
func (c *catalogue) readPath(ctx context.Context, tx pgx.Tx, path []string, oids []uint32) error {
	var err error
	if c.path, err = rowsOf[pathSchema](ctx, tx, pathSQL, path); err != nil {
		return err
	}
	list, err := rowsOf[struct{ OID uint32 }](ctx, tx, countingSQL, oids)
	c.counting = map[uint32]bool{}
	for _, r := range list {
		c.counting[r.OID] = true
	}
	return err
}

// readRegistrations reads what cs9 knows of the tables of a schema; nothing
// where cs9 is not installed.
func (c *catalogue) readRegistrations(ctx context.Context, tx pgx.Tx, schema string) error {
	var installed bool
	if err := tx.QueryRow(ctx, "SELECT to_regclass('cs9.table_definition') IS NOT NULL").Scan(&installed); err != nil {
		return fmt.Errorf("look for the cs9 schema: %w", err)
	}
	if !installed {
		return nil
	}
	list, err := rowsOf[registration](ctx, tx, registrationsSQL, schema)
	if err != nil {
		return err
	}
	names := map[uint32]string{}
	for _, r := range c.relations {
		names[r.OID] = r.Name
	}
	for _, r := range list {
		c.registered[r.OID] = r
		c.templates[r.Template] = names[r.OID]
	}
	return nil
}

// rowsOf returns the rows of a query, whose columns are the fields of T.
func rowsOf[T any](ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]T, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read the catalogue: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[T])
	if err != nil {
		return nil, fmt.Errorf("read the catalogue: %w", err)
	}
	return list, nil
}

// by groups rows, and keeps their order.
func by[T any](list []T, key func(T) uint32) map[uint32][]T {
	out := map[uint32][]T{}
	for _, item := range list {
		out[key(item)] = append(out[key(item)], item)
	}
	return out
}
