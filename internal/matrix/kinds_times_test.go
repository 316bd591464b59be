package matrix

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

func zone(name string) *time.Location {
	location, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return location
}

func timeKinds() []kind {
	oslo, nepal := zone("Europe/Oslo"), time.FixedZone("", 5*3600+45*60)
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	moment := time.Date(2026, 1, 2, 12, 34, 56, 789012000, time.UTC)
	ides := time.Date(-43, 3, 15, 0, 0, 0, 0, time.UTC)
	clock := time.Date(0, 1, 1, 12, 34, 56, 789012000, time.UTC)
	gap := time.Date(2026, 3, 29, 2, 30, 0, 0, oslo) // a time that clocks there skip
	const second = 1e6
	return []kind{
		{name: "date", sql: "date", values: []value{
			lit("2026-01-02", g(day), g(&day), g(time.Date(2026, 1, 2, 0, 0, 0, 0, oslo)), g(pgtype.Date{Time: day, Valid: true})),
			lit("0044-03-15 BC", g(ides)), lit("10000-01-01", g(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))), lit("5874897-12-31", g(time.Date(5874897, 12, 31, 0, 0, 0, 0, time.UTC))),
			lit("4713-01-01 BC", g(time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC))), lit("infinity", g(pgtype.Date{InfinityModifier: pgtype.Infinity, Valid: true})), lit("-infinity"),
			lit("03/04/2026"), lit("Jan 5, 2026"), lit("2026-01-06 00:00:00"), null(g((*time.Time)(nil)), g(pgtype.Date{})),
		}},
		{name: "time", sql: "time", values: []value{
			lit("12:34:56.789012", g(clock), g(pgtype.Time{Microseconds: (12*3600+34*60+56)*second + 789012, Valid: true})), lit("00:00:00", g(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))),
			lit("24:00:00", g(pgtype.Time{Microseconds: 86400 * second, Valid: true})), lit("11:59 PM"), null(g(pgtype.Time{})),
		}},
		{name: "time_0", sql: "time(0)", values: []value{lit("12:34:56", g(clock.Truncate(time.Second))), lit("12:34:57.0")}},
		{name: "timetz", sql: "timetz", values: []value{lit("12:34:56+02"), lit("12:34:56.789-08:30"), lit("10:34:56+00"), lit("24:00:00-14"), null()}},
		{name: "timestamp", sql: "timestamp", values: []value{
			lit("2026-01-02 12:34:56.789012", g(moment), g(pgtype.Timestamp{Time: moment, Valid: true})), lit("0044-03-15 12:00:00 BC", g(ides.Add(12*time.Hour))),
			lit("294276-12-31 23:59:59.999999", g(time.Date(294276, 12, 31, 23, 59, 59, 999999000, time.UTC))), lit("infinity", g(pgtype.Timestamp{InfinityModifier: pgtype.Infinity, Valid: true})),
			lit("-infinity"), lit("02/01/2026 10:00"), lit("2026-01-03 10:00:00Z"), lit("2026-01-04"), null(g(pgtype.Timestamp{})),
		}},
		{name: "timestamp_3", sql: "timestamp(3)", values: []value{lit("2026-01-02 12:34:56.789", g(moment.Truncate(time.Millisecond))), lit("2026-01-02 12:34:56.5000000")}},
		{name: "timestamptz", sql: "timestamptz", values: []value{
			lit("2026-01-02 12:34:56.789012+00", g(moment), g(moment.In(oslo)), g(moment.In(nepal)), g(pgtype.Timestamptz{Time: moment, Valid: true})),
			lit("2026-01-02 12:34:56+05:45", g(time.Date(2026, 1, 2, 12, 34, 56, 0, nepal))), lit("2026-01-02 12:00"), lit(gap.UTC().Format("2006-01-02 15:04:05-07"), g(gap)), same(lit("2026-03-29 02:30 Europe/Oslo")),
			lit("2026-10-25 02:30+02", g(time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).In(oslo))), lit("2026-10-25 02:30+01", g(time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC).In(oslo))),
			lit("0044-03-15 12:00:00+00 BC", g(ides.Add(12*time.Hour))), lit("0001-01-01 00:00:01+00", g(time.Time{}.Add(time.Second))), lit("1970-01-01 00:00:00+00", g(time.Unix(0, 0))),
			lit("12345-01-01 00:00:00+00", g(time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC))),
			lit("infinity", g(pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true})), lit("-infinity", g(pgtype.Timestamptz{InfinityModifier: pgtype.NegativeInfinity, Valid: true})),
			null(g((*time.Time)(nil)), g(pgtype.Timestamptz{})),
		}},
		{name: "interval", sql: "interval", values: []value{
			lit("+1 mons -2 days +00:00:03.5", g(pgtype.Interval{Months: 1, Days: -2, Microseconds: 3.5 * second, Valid: true})),
			lit("-1 mons +2 days -00:00:00.000001", g(pgtype.Interval{Months: -1, Days: 2, Microseconds: -1, Valid: true})), lit("-14 mons", g(pgtype.Interval{Months: -14, Valid: true})),
			lit("1 day"), same(lit("24:00:00", g(24*time.Hour), g(pointer(24*time.Hour)))), lit("0", g(time.Duration(0))), lit("-01:30:00", g(-90*time.Minute)),
			lit("3 days 3.5 hours"), lit("P1Y2M3DT4H5M6.7S"), lit("178000000 years"), null(g(pgtype.Interval{}), g((*time.Duration)(nil))),
		}},
		{name: "interval_infinite", sql: "interval", needs: "SELECT 'infinity'::interval", values: []value{
			lit("infinity", g(pgtype.Interval{Months: 1<<31 - 1, Days: 1<<31 - 1, Microseconds: 1<<63 - 1, Valid: true})), lit("-infinity"),
		}},
	}
}
