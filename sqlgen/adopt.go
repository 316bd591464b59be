package sqlgen

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// modelSchema is where the model of an adopted table is made, for as long as it
// is compared.
const modelSchema = "cs9_staging"

// adoptTable returns all that cs9gen needs beside a table that is there already.
// What is there is compared with a model first: the table as the definition
// would make it, so that the server itself says what the two have in common.
func (r *renderer) adoptTable(hash string) ([]section, error) {
	routines, err := r.routineObjects()
	if err != nil {
		return nil, err
	}
	var remarks []object
	for _, o := range r.commentObjects() {
		if o.on != "" {
			remarks = append(remarks, o)
		}
	}
	var grants []step
	for _, o := range r.grantObjects() {
		grants = append(grants, step{sql: cmp.Or(o.adopted, o.create)})
	}
	check, err := r.checkAdopted()
	if err != nil {
		return nil, err
	}
	return []section{
		{"The live table is there already. What the definition would make is made beside it, empty, as a model to compare with.", r.adoptionModel()},
		{"Refused, with a list, where the table is not as its model is. The model is dropped.", check},
		{"The staging template: each run writes to a copy of it.", creating(r.templateObjects())},
		{"The steps of a publish, and the procedure that publishes this table alone.", creating(routines, routine)},
		{"", creating(routines, revoke)},
		{"", creating(remarks)},
		{"From here on runs may write to the table.", plainSteps(r.register(hash))},
		{"Who may do what. A role is made where it is missing; nobody is put into it. What a role had before it keeps for ever.", grants},
	}, nil
}

// adoptionModel returns the statements that make the model. It has no foreign
// keys: they would lock the tables that they reference.
func (r *renderer) adoptionModel() []step {
	model := *r.t
	model.Schema = modelSchema
	m := newRenderer(&model)
	m.keysApart = true
	return plainSteps(slices.Concat(r.requirements(), []string{"SELECT cs9.bound_lock_wait()"}, m.liveTable())...)
}

// checkAdopted returns the statement that compares the table with its model, and
// the foreign keys with those of the definition.
func (r *renderer) checkAdopted() ([]step, error) {
	keys := map[string]string{}
	for i, f := range r.t.ForeignKeys {
		keys[r.names.ForeignKeys[i].Value] = strings.Join(strings.Fields(normalForeignKey(f.Value, r.t.Schema).clause(r.t.Schema)), " ")
	}
	text, err := json.Marshal(keys)
	if err != nil {
		return nil, fmt.Errorf("sqlgen: table %s: %w", r.live(), err)
	}
	return plainSteps(fmt.Sprintf("SELECT cs9.check_adopted(%s, %s, %s)", QuoteLiteral(r.t.Schema), QuoteLiteral(r.t.Name), QuoteLiteral(string(text)))), nil
}

// dropTable returns what takes the table away again; of an adopted one, all but
// the table itself.
func (r *renderer) dropTable() []section {
	schema, name := QuoteLiteral(r.t.Schema), QuoteLiteral(r.t.Name)
	heading := "Refused while a run that writes to the table is unfinished. The schema stays: it may hold more."
	var statements []string
	if r.t.Adopt {
		heading = "Refused while a run that writes to the table is unfinished. The table stays as it is, with its rows."
		statements = append(statements, fmt.Sprintf("SELECT cs9.release_adopted(%s, %s)", schema, name))
	}
	statements = append(statements, fmt.Sprintf("SELECT cs9.unregister_table(%s, %s)", schema, name))
	for _, f := range slices.Backward(r.ownRoutines()) {
		statements = append(statements, "DROP "+r.signature(f))
	}
	statements = append(statements, "DROP TABLE "+r.own(r.names.Staging))
	if !r.t.Adopt {
		statements = append(statements, "DROP TABLE "+r.live())
	}
	return []section{{heading, plainSteps(statements...)}}
}

// cannotAdopt says why a table that is there cannot be adopted as the definition
// has it, or is nil.
func cannotAdopt(t *Table) error {
	if !t.Adopt || !t.hasPart() {
		return nil
	}
	return fmt.Errorf("%w: table %s: a table that is there has no partition to swap: adopt it with publish: batched or atomic, generate, and change publish then, which makes the table a partition without copying a row",
		ErrCannotChange, Qualified(t.Schema, t.Name))
}
