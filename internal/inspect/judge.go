package inspect

import (
	"fmt"
	"strings"

	"github.com/cs9gen/cs9gen/sqlgen"
)

// judge looks for what keeps a table from being published as cs9gen promises,
// which refuses it, and for what a definition does not hold, which is noted: it
// stays as it is, and only a table that is made anew from the definition lacks it.
func (b *builder) judge() {
	if reason := b.notATable(); reason != "" {
		b.refuse("%s", reason)
		return
	}
	r := b.rel
	switch r.Persistence {
	case "u":
		b.refuse("it is UNLOGGED, and a crash would empty it after a publish: ALTER TABLE … SET LOGGED")
	case "t":
		b.refuse("it is temporary: make it a plain table")
	}
	if r.IsChild {
		b.refuse("it inherits from another table (INHERITS): ALTER TABLE … NO INHERIT, or make it a partition")
	}
	if r.IsParent {
		b.refuse("other tables inherit from it (INHERITS), whose rows a publish would touch: make them partitions")
	}
	if staging := sqlgen.NamesOf(&b.t).Staging; b.c.templates[b.oid(staging)] != r.Name && b.oid(staging) != 0 {
		b.refuse("%s has the name that the staging template would have: rename it", sqlgen.Qualified(b.schema, staging))
	}
	if _, known := b.c.registered[r.OID]; !known {
		for _, f := range sqlgen.RoutinesOf(&b.t) {
			if b.c.routines[f] {
				b.refuse("%s(%s) has the name that a routine of cs9gen would have: rename it", sqlgen.Qualified(b.schema, f.Name), f.Arguments)
			}
		}
	}
	b.judgeKey()
	b.judgeConstraints()
	b.judgeExtras()
	b.noteSettings()
}

// oid returns the oid of a relation of the schema; 0 when there is none.
func (b *builder) oid(name string) uint32 {
	for _, r := range b.c.relations {
		if r.Name == name {
			return r.OID
		}
	}
	return 0
}

// notATable says what a relation is instead; "" for a table.
func (b *builder) notATable() string {
	switch r := b.rel; {
	case r.Kind == "v" || r.Kind == "m":
		return "it is a view: it stays as it is, define the tables that it reads"
	case r.Kind == "f":
		return "it is a foreign table: its rows are in another server"
	case r.Extension != "":
		return fmt.Sprintf("it belongs to the extension %s", sqlgen.QuoteIdent(r.Extension))
	case r.PartitionOf != "":
		return fmt.Sprintf("it is a partition of %s: inspect that", r.PartitionOf)
	case b.c.templates[r.OID] != "":
		return fmt.Sprintf("it is the staging template of %s, and comes with that", sqlgen.Qualified(b.schema, b.c.templates[r.OID]))
	case r.Name == "goose_db_version":
		return "goose keeps in it which migrations are applied"
	}
	return ""
}

func (b *builder) judgeKey() {
	key, ok := b.primaryKey()
	switch {
	case !ok:
		reason := "it has no primary key, by which rows are told apart: add one"
		if k, split := b.c.keys[b.rel.OID]; split {
			reason += fmt.Sprintf(", which must hold the columns of PARTITION BY %s", k.Definition)
		}
		b.refuse("%s", reason)
	case key.Deferrable:
		b.refuse("its primary key is DEFERRABLE, so that no upsert can use it: add it anew without")
	case key.Period:
		b.refuse("its primary key is WITHOUT OVERLAPS, which cannot be proved before a publish: use a plain one")
	}
	if x := b.indexOf(key); ok && len(x.Columns) > x.Keys {
		b.refuse("its primary key has INCLUDE (%s), which no definition says: add it anew without", identList(x.Columns[x.Keys:]))
	}
	for _, c := range b.c.columns[b.rel.OID] {
		if c.Generated == "v" {
			b.refuse("its generated column %s is VIRTUAL, and definitions know STORED ones only", sqlgen.QuoteIdent(c.Name))
		}
	}
}

func (b *builder) judgeConstraints() {
	for _, c := range b.c.constraints[b.rel.OID] {
		switch name := sqlgen.QuoteIdent(c.Name); {
		case c.Type == "x":
			b.refuse("it has the exclusion constraint %s, which cannot be proved before a publish: drop it", name)
		case c.Type == "u" && c.Period:
			b.refuse("its unique constraint %s is WITHOUT OVERLAPS, which cannot be proved before a publish: drop it", name)
		case c.Type == "f" && c.Period:
			b.refuse("its foreign key %s is one of periods, which cannot be proved before a publish: drop it", name)
		case c.Type == "n":
			b.note("NOT NULL of %s is NOT VALID: rows that are there may lack it, rows that are staged may not", identList(c.Columns))
		}
	}
}

func (b *builder) judgeExtras() {
	names := map[string][]string{}
	for _, e := range b.c.extras[b.rel.OID] {
		names[e.Kind] = append(names[e.Kind], e.Name)
	}
	if list := names["rule"]; list != nil {
		b.refuse("it has rules (%s), which turn the steps of a publish into other statements: drop or disable them", identList(list))
	}
	if list := names["disabled rule"]; list != nil {
		b.note("it has disabled rules (%s), which stay; a publish stops before it begins when one is enabled", identList(list))
	}
	if list := names["trigger"]; list != nil {
		b.note("its triggers (%s) stay, and fire for what a publish writes and deletes, but not for a swap; one that raises stops the publish", identList(list))
	}
	if list := names["statistics"]; list != nil {
		b.note("its statistics objects (%s) stay, and are not in the definition", identList(list))
	}
}

// noteSettings notes properties of the table that a definition has no field for.
func (b *builder) noteSettings() {
	r := b.rel
	if r.RowSecurity {
		b.note("row-level security is on, and stays: stage and publish as the table's owner, or as a role with BYPASSRLS")
	}
	if len(r.Options) > 0 {
		b.note("it has storage parameters (%s), which stay", strings.Join(r.Options, ", "))
	}
	if r.Tablespace != "" {
		b.note("it is in the tablespace %s, where it stays", sqlgen.QuoteIdent(r.Tablespace))
	}
	if r.Kind == "r" && r.AccessMethod != "heap" {
		b.note("its access method is %s, which stays", sqlgen.QuoteIdent(r.AccessMethod))
	}
	if what := map[string]string{"f": "FULL", "i": "USING INDEX", "n": "NOTHING"}[r.ReplicaIdentity]; what != "" {
		b.note("its REPLICA IDENTITY is %s, which stays", what)
	}
	if r.Typed {
		b.note("it is a table OF a type, and stays so")
	}
}
