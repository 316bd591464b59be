package sqlgen

import "strings"

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
