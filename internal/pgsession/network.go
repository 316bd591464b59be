package pgsession

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// A host that loses its power or its network closes no connection: the other
// end learns of it only by asking. Both ends of each session ask when they have
// heard nothing for keepAliveIdle, keepAliveCount times, and then let go of the
// connection, after VanishedAfter in all.
const (
	keepAliveIdle     = 10 * time.Second
	keepAliveInterval = 5 * time.Second
	keepAliveCount    = 3

	// VanishedAfter is how long an end of a session waits for the other one,
	// where the network itself gives no answer.
	VanishedAfter = keepAliveIdle + keepAliveCount*keepAliveInterval
)

// keepAlive makes the server ask. Over a Unix socket the settings mean nothing.
var keepAlive = []Setting{
	{"tcp_keepalives_idle", strconv.Itoa(int(keepAliveIdle.Seconds()))},
	{"tcp_keepalives_interval", strconv.Itoa(int(keepAliveInterval.Seconds()))},
	{"tcp_keepalives_count", strconv.Itoa(keepAliveCount)},
}

// Prompt is for a session of which others wait to hear that it is gone: the
// server also gives it up when what it has sent is not taken for VanishedAfter.
// A client that pauses while it reads many rows must not have it.
var Prompt = Setting{"tcp_user_timeout", strconv.FormatInt(VanishedAfter.Milliseconds(), 10)}

// KeepAlive makes the client's end of a connection ask. Call it before the
// connection is made.
func KeepAlive(cfg *pgconn.Config) {
	dial := cfg.DialFunc
	cfg.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if tcp, ok := conn.(*net.TCPConn); ok {
			// where it cannot be had, a heartbeat is left
			_ = tcp.SetKeepAliveConfig(net.KeepAliveConfig{
				Enable: true, Idle: keepAliveIdle, Interval: keepAliveInterval, Count: keepAliveCount,
			})
		}
		return conn, err
	}
}
