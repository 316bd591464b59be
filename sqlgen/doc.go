// Package sqlgen turns table definitions into the SQL of goose migrations.
//
// A definition file says what a table is: its columns, keys, indexes, checks,
// partitions and publish mode. [Load] reads such files strictly and reports
// every problem it finds with file, line and column; what it returns holds no
// name, value or expression that the rest of the package would have to doubt.
//
// The package decides two things for everybody else: how the objects that
// belong to a table are named ([NamesOf], the one place where names are
// derived) and how identifiers and literals are quoted ([QuoteIdent],
// [QuoteLiteral]). It leaves to the database whatever only the database can
// know: whether a type exists, whether an expression is of the right type,
// whether a role may create the table.
package sqlgen
