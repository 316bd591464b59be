package matrix

import (
	"net"
	"net/netip"

	"github.com/jackc/pgx/v5/pgtype"
)

// otherKinds are addresses, shapes, and what the driver knows nothing of.
func otherKinds() []kind {
	_, network, err := net.ParseCIDR("10.0.0.0/8")
	if err != nil {
		panic(err)
	}
	mac := net.HardwareAddr{8, 0, 0x2b, 1, 2, 3}
	return []kind{
		{name: "inet", sql: "inet", values: []value{
			lit("10.0.0.1", g(netip.MustParseAddr("10.0.0.1")), g(netip.MustParsePrefix("10.0.0.1/32")), g(net.ParseIP("10.0.0.1").To4())), lit("10.0.0.1/8", g(netip.MustParsePrefix("10.0.0.1/8"))),
			lit("::1", g(net.ParseIP("::1"))), lit("::ffff:1.2.3.4", g(netip.MustParseAddr("::ffff:1.2.3.4"))), lit("fe80::/10", g(netip.MustParsePrefix("fe80::/10"))),
			null(g((*netip.Addr)(nil)), g(net.IP(nil))),
		}},
		{name: "cidr", sql: "cidr", values: []value{lit("10.0.0.0/8", g(netip.MustParsePrefix("10.0.0.0/8")), g(*network), g(network)), lit("10.1"), lit("::/0", g(netip.MustParsePrefix("::/0"))), null()}},
		{name: "macaddr", sql: "macaddr", values: []value{lit("08:00:2b:01:02:03", g(mac), g("08002b-010203")), null(g(net.HardwareAddr(nil)))}},
		{name: "macaddr8", sql: "macaddr8", values: []value{lit("08:00:2b:ff:fe:01:02:03", g(net.HardwareAddr{8, 0, 0x2b, 0xff, 0xfe, 1, 2, 3}))}},
		{name: "point", sql: "point", noKey: true, values: []value{lit("(1.5,-2)", g(pgtype.Point{P: pgtype.Vec2{X: 1.5, Y: -2}, Valid: true})), lit("(NaN,Infinity)"), null(g(pgtype.Point{}))}},
		{name: "box", sql: "box", noKey: true, values: []value{lit("(2,2),(1,1)", g(pgtype.Box{P: [2]pgtype.Vec2{{X: 2, Y: 2}, {X: 1, Y: 1}}, Valid: true})), lit("(1,2),(3,4)"), null()}},
		{name: "polygon", sql: "polygon", noKey: true, values: []value{lit("((0,0),(1,1),(2,0))")}},
		{name: "lsn", sql: "pg_lsn", values: []value{lit("16/B374D848"), null()}},
		{name: "shape", sql: "odd.shape", noKey: true, values: []value{lit("POINT(1 2)", g(label("POINT(1 2)"))), lit(`\N`), lit(""), lit("a\tb\nc"), null(g((*string)(nil)))}},
	}
}
