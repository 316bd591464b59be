package standby

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAFullDiskStopsAPublishThatResumes publishes into a tablespace of one
// megabyte that is full.
func TestAFullDiskStopsAPublishThatResumes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a small disk")
	}
	dir, err := os.MkdirTemp("/tmp", "cs9gen-disk-")
	require.NoError(t, err)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0777"); err != nil {
		require.NoError(t, os.Remove(dir))
		t.Skipf("this machine makes no small disk: %v", err)
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		owner, err = user.Lookup("nobody")
	}
	require.NoError(t, err)
	uid, err := strconv.Atoi(owner.Uid)
	require.NoError(t, err)
	require.NoError(t, os.Chown(dir, uid, -1))
	l := newLab(t)
	t.Cleanup(func() {
		require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH))
		require.NoError(t, os.Remove(dir))
	})
	l.exec("CREATE TABLESPACE small LOCATION '" + dir + "'")
	l.exec("ALTER TABLE hot.batched SET TABLESPACE small")
	l.bringTo("ready", "batched", 1)
	fillDisk(t, l.conn, "small")
	err = publish(t.Context(), l.conn, "batched", 1)
	require.Equal(t, "53100", sqlState(err), "%v", err)
	mustSee(t, l.conn, "batched", "empty")
	l.exec("DROP TABLE filler")
	require.Equal(t, "publish", again(t, l.conn, "batched", 1))
	mustSee(t, l.conn, "batched", key(1))
	l.exec("ALTER TABLE hot.batched SET TABLESPACE pg_default", "DROP TABLESPACE small")
}
