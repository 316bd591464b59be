package sqlgen

import (
	"fmt"
	"slices"
	"strings"
)

// checkRoles checks the names of the roles that get grants.
func (c *checker) checkRoles() {
	roles := c.t.Roles
	if roles == nil {
		return
	}
	for _, r := range []struct{ part, name string }{
		{"roles.reader", roles.Reader}, {"roles.runner", roles.Runner}, {"roles.publisher", roles.Publisher},
	} {
		if !c.given(r.part) || c.bad(r.part) {
			continue
		}
		if fault := identProblem(r.name); fault != "" {
			c.fail(r.part, "the role %q cannot be used: %s", r.name, fault)
		} else if len(r.name) > maxIdentBytes {
			c.checkIdent(r.part, r.name)
		} else if strings.HasPrefix(r.name, "pg_") || r.name == "public" || r.name == "none" {
			c.fail(r.part, "the role %q cannot be used: PostgreSQL keeps this name for itself; take another", r.name)
		}
	}
}

// checkSearchPath checks the schemas that functions of the table count on.
// Whether they are there, and who may create in them, is the database's to say.
func (c *checker) checkSearchPath() {
	for i, name := range c.t.SearchPath {
		part := fmt.Sprintf("search_path[%d]", i)
		switch {
		case c.bad(part) || !c.checkIdent(part, name):
		case name == "$user":
			c.fail(part, "the search_path cannot hold $user: it would mean another schema for each login; write the schema's name")
		case name != "pg_catalog" && strings.HasPrefix(name, "pg_") || name == "information_schema":
			c.fail(part, "the search_path cannot hold %q: PostgreSQL keeps this schema for itself; take another", name)
		case slices.Contains(c.t.SearchPath[:i], name):
			c.fail(part, "the search_path holds %q twice: leave one out", name)
		}
	}
}
