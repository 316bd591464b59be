package pgserver

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func TestStandbyFollowsAndIsPromoted(t *testing.T) {
	primary := start(t)
	require.Equal(t, "4711", query(t, primary, "SELECT lo_create(4711)::text"))
	standby, err := primary.StartStandby(t.Context(), "first", nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, standby.Stop()) })
	require.Equal(t, "t 4711", query(t, standby, "SELECT pg_is_in_recovery()::char || ' ' || oid FROM pg_largeobject_metadata"))

	require.Equal(t, "4712", query(t, primary, "SELECT lo_create(4712)::text"))
	require.Eventually(t, func() bool {
		return query(t, standby, "SELECT count(*)::text FROM pg_largeobject_metadata") == "2"
	}, 20*time.Second, 20*time.Millisecond, "it follows")
	require.Equal(t, "first", query(t, primary, "SELECT application_name FROM pg_stat_replication"))

	require.NoError(t, standby.Promote(t.Context()))
	require.Equal(t, "4713", query(t, standby, "SELECT lo_create(4713)::text"), "it takes writes")
	require.Equal(t, "2", query(t, primary, "SELECT count(*)::text FROM pg_largeobject_metadata"), "and the first has none of them")
}

func TestBackupIsAServerOfItsOwn(t *testing.T) {
	first := start(t)
	require.Equal(t, "4711", query(t, first, "SELECT lo_create(4711)::text"))
	second, err := first.StartBackup(t.Context(), map[string]string{"work_mem": "7MB"})
	require.NoError(t, err)
	require.Equal(t, "4711 7MB", query(t, second, "SELECT oid || ' ' || current_setting('work_mem') FROM pg_largeobject_metadata"))
	require.NotEqual(t, first.Port(), second.Port())
	require.NoError(t, second.Stop())
	_, err = os.Stat(second.dir)
	require.Error(t, err)
	require.Equal(t, "1", query(t, first, "SELECT 1::text"))
}

func TestPromoteOfAPrimaryIsAnError(t *testing.T) {
	var pgErr *pgconn.PgError
	require.True(t, errors.As(start(t).Promote(context.Background()), &pgErr))
	require.Equal(t, "55000", pgErr.Code)
}
