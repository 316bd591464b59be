package check

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// scratchName names the scratch database of a session of the server: as long as
// there is a session with that number, somebody may be at work on it, even
// between two connections to the database itself.
func scratchName(session int, random string) string {
	return fmt.Sprintf("cs9gen_check_%d_%s", session, random)
}

// dropLeftOver drops the scratch databases of checks that were killed, and
// returns their names. One is left alone while the session that made it is
// there, or while anybody is connected to it.
func dropLeftOver(ctx context.Context, conn *pgx.Conn) ([]string, error) {
	rows, err := conn.Query(ctx, `
		SELECT d.datname
		FROM pg_database AS d
		WHERE d.datname ~ '^cs9gen_check_[0-9]{1,9}_[0-9a-f]{12}$' AND pg_has_role(d.datdba, 'USAGE')
		  AND NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE a.datname = d.datname OR a.pid::text = split_part(d.datname, '_', 3))
		ORDER BY d.datname`)
	if err != nil {
		return nil, fmt.Errorf("check: look for scratch databases that were left over: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("check: look for scratch databases that were left over: %w", err)
	}
	var dropped []string
	for _, name := range names {
		_, err := conn.Exec(ctx, "DROP DATABASE "+name)
		switch {
		case err == nil:
			dropped = append(dropped, name)
		case hasCode(err, "55006", "3D000", "42501", "25006"):
			// somebody is connected to it after all, or was faster, or the server is a standby: it can wait
		default:
			return dropped, fmt.Errorf("check: drop the scratch database %s, which was left over: %w", name, err)
		}
	}
	return dropped, nil
}
