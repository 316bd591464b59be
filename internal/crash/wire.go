package crash

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// message is one message of PostgreSQL's protocol, as it goes over the wire.
type message struct {
	kind byte // 0: the first of a connection, which has none
	raw  []byte
}

const (
	maxMessage    = 1 << 26
	cancelRequest = 80877102
)

// readFirst reads the message that opens a connection.
func readFirst(r io.Reader) (message, error) {
	raw := make([]byte, 8)
	if _, err := io.ReadFull(r, raw); err != nil {
		return message{}, err
	}
	return readBody(r, message{raw: raw}, int(binary.BigEndian.Uint32(raw))-len(raw))
}

// isCancel says whether the message that opened a connection asks to cancel a
// statement of another one.
func (m message) isCancel() bool {
	return m.kind == 0 && binary.BigEndian.Uint32(m.raw[4:]) == cancelRequest
}

// read reads one of the messages that follow.
func read(r io.Reader) (message, error) {
	raw := make([]byte, 5)
	if _, err := io.ReadFull(r, raw); err != nil {
		return message{}, err
	}
	return readBody(r, message{kind: raw[0], raw: raw}, int(binary.BigEndian.Uint32(raw[1:]))-4)
}

func readBody(r io.Reader, m message, length int) (message, error) {
	if length < 0 || length > maxMessage {
		return m, errors.New("crash: this is not PostgreSQL's protocol, version 3")
	}
	head := len(m.raw)
	m.raw = append(m.raw, make([]byte, length)...)
	_, err := io.ReadFull(r, m.raw[head:])
	return m, err
}

// body is the message without its kind and length.
func (m message) body() []byte { return m.raw[5:] }

// backendPID is the process of a BackendKeyData message.
func (m message) backendPID() uint32 { return binary.BigEndian.Uint32(m.body()) }

// sql is the text of a Query or Parse message, cut to one short line.
func (m message) sql() string {
	text := m.body()
	if m.kind == 'P' { // the name of the statement comes first
		_, text, _ = bytes.Cut(text, []byte{0})
	}
	text, _, _ = bytes.Cut(text, []byte{0})
	line := strings.Join(strings.Fields(string(text)), " ")
	if len(line) > 60 {
		line = line[:60] + "…"
	}
	return line
}

// noticeText is the text of a NoticeResponse.
func (m message) noticeText() string {
	for field := range bytes.SplitSeq(m.body(), []byte{0}) {
		if len(field) > 0 && field[0] == 'M' {
			return string(field[1:])
		}
	}
	return ""
}

// frontendNames are the messages of a client but those of the start-up.
var frontendNames = map[byte]string{
	'Q': "Query", 'P': "Parse", 'B': "Bind", 'D': "Describe", 'E': "Execute", 'S': "Sync", 'C': "Close", 'H': "Flush",
	'd': "CopyData", 'c': "CopyDone", 'f': "CopyFail", 'X': "Terminate",
}

// ends says that the message of a client ends a request: only when it arrives
// is anything committed. A message that carries rows counts as well.
func (m message) ends() bool {
	switch m.kind {
	case 'Q', 'S', 'd', 'c', 'f', 'X':
		return true
	}
	return false
}
