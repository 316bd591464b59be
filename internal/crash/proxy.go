// Package crash kills a run at a chosen point, for the tests of what a run that
// was killed leaves. It holds a [Proxy] between a runner and its server: it
// counts the messages that go over the wire, and stops the traffic at one of
// them for as long as it takes to kill something. Whom it kills, how the run is
// started again and what must be true then is in the package's tests.
package crash

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
)

// Point is a moment of a run at which it can be killed: before a request of the
// runner's reaches the server; before the message that ends the request does, so
// that all of it may be done and nothing committed; and when the server has
// answered, before the answer reaches the runner.
type Point struct {
	// Number counts from 1 in order of arrival over all connections.
	Number int
	// Conn is the connection, counted from 1. The first is that of the owner.
	Conn int
	// PID is the connection's backend, and OwnerPID that of the first connection.
	PID, OwnerPID uint32
	// Commit says that it is a notice, of which a publish sends one a commit.
	Commit bool
	// What says which message it is.
	What string
}

// String says where in the run the point is.
func (p Point) String() string {
	return fmt.Sprintf("point %d, connection %d: %s", p.Number, p.Conn, p.What)
}

// Proxy forwards the connections of one run.
type Proxy struct {
	at       int
	strike   func(*Proxy, Point)
	server   string
	listener net.Listener
	pumps    sync.WaitGroup

	mu       sync.Mutex // held to count a message, and during a strike
	points   []Point
	struck   bool
	accepted int
	ownerPID uint32

	connsMu sync.Mutex
	conns   map[net.Conn]bool
	cut     bool
}

// Listen starts a proxy in front of a server's address. At the point of the
// number at it calls strike, and the traffic of all connections stands still
// until that has returned; 0 only counts.
func Listen(ctx context.Context, server string, at int, strike func(*Proxy, Point)) (*Proxy, error) {
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("crash: %w", err)
	}
	p := &Proxy{at: at, strike: strike, server: server, listener: listener, conns: map[net.Conn]bool{}}
	p.pumps.Go(p.accept)
	return p, nil
}

// Addr is the address that the runner connects to.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Points are the points that the run has come to so far.
func (p *Proxy) Points() []Point {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Point(nil), p.points...)
}

// Struck is the point at which the proxy struck; ok is false when the run never
// came to it.
func (p *Proxy) Struck() (point Point, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.struck {
		return Point{}, false
	}
	return p.points[p.at-1], true
}

// Cut closes all connections, as the kernel does for a process that has died.
func (p *Proxy) Cut() {
	p.connsMu.Lock()
	defer p.connsMu.Unlock()
	p.cut = true
	for c := range p.conns {
		c.Close() //nolint:errcheck,gosec // it is cut
	}
}

// Close ends the proxy, when the runner has closed its connections and all that
// it sent has gone through.
func (p *Proxy) Close() {
	p.listener.Close() //nolint:errcheck,gosec // nothing is lost with it
	p.pumps.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.pumps.Go(func() { p.serve(client) })
	}
}

// hold keeps a connection so that Cut closes it; false when that has happened.
func (p *Proxy) hold(c net.Conn) bool {
	p.connsMu.Lock()
	defer p.connsMu.Unlock()
	if p.cut {
		c.Close() //nolint:errcheck,gosec // it is cut
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) drop(c net.Conn) {
	p.connsMu.Lock()
	defer p.connsMu.Unlock()
	delete(p.conns, c)
	c.Close() //nolint:errcheck,gosec // the other side has closed it, or is told to
}

// link is one connection of the run.
type link struct {
	proxy          *Proxy
	client, server net.Conn
	number         int
	pid            uint32
	inRequest      bool   // the server has not answered it yet
	statement      string // the last one that was sent
}

func (p *Proxy) serve(client net.Conn) {
	if !p.hold(client) {
		return
	}
	defer p.drop(client)
	in := bufio.NewReader(client)
	first, err := readFirst(in)
	if err != nil {
		return
	}
	var dialer net.Dialer
	server, err := dialer.DialContext(context.Background(), "tcp", p.server)
	if err != nil || !p.hold(server) {
		return
	}
	defer p.drop(server)
	if _, err := server.Write(first.raw); err != nil || first.isCancel() {
		return
	}
	l := &link{proxy: p, client: client, server: server}
	p.mu.Lock()
	p.accepted++
	l.number = p.accepted
	p.mu.Unlock()

	answers := make(chan struct{})
	go func() {
		defer close(answers)
		defer client.Close() //nolint:errcheck // what was answered has been written
		l.pump(bufio.NewReader(server), client, l.answer)
	}()
	l.pump(in, server, l.request)
	server.Close() //nolint:errcheck,gosec // the runner has gone
	<-answers
}

// pump forwards messages, each after it was counted.
func (l *link) pump(from *bufio.Reader, to net.Conn, count func(message)) {
	for {
		m, err := read(from)
		if err != nil {
			return
		}
		count(m)
		if _, err := to.Write(m.raw); err != nil {
			return
		}
	}
}

func (l *link) request(m message) {
	name, counted := frontendNames[m.kind]
	if !counted {
		return
	}
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	if m.kind == 'Q' || m.kind == 'P' {
		l.statement = m.sql()
	}
	if !l.inRequest || m.ends() {
		l.reached(fmt.Sprintf("before %s of %q is sent", name, l.statement), false)
	}
	l.inRequest = true
}

func (l *link) answer(m message) {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	switch m.kind {
	case 'K':
		l.pid = m.backendPID()
		if l.number == 1 {
			l.proxy.ownerPID = l.pid
		}
	case 'N':
		l.reached(fmt.Sprintf("after the notice %q", m.noticeText()), true)
	case 'G':
		l.reached(fmt.Sprintf("after CopyInResponse of %q", l.statement), false)
	case 'Z':
		l.inRequest = false
		l.reached(fmt.Sprintf("after ReadyForQuery of %q", l.statement), false)
	}
}

// reached counts a point, and strikes when it is the one.
func (l *link) reached(what string, commit bool) {
	p := l.proxy
	point := Point{Number: len(p.points) + 1, Conn: l.number, PID: l.pid, OwnerPID: p.ownerPID, Commit: commit, What: what}
	p.points = append(p.points, point)
	if point.Number == p.at {
		p.struck = true
		p.strike(p, point)
	}
}
