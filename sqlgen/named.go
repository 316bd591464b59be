package sqlgen

// Named is a YAML mapping from names to values that keeps the order of the file.
type Named[T any] []NamedItem[T]

// NamedItem is one entry of a [Named].
type NamedItem[T any] struct {
	Name  string
	Value T
}

// Get returns the value of the entry called name, and whether there is one.
func (n Named[T]) Get(name string) (T, bool) {
	for _, item := range n {
		if item.Name == name {
			return item.Value, true
		}
	}
	var zero T
	return zero, false
}

// add returns n with one entry more.
func (n Named[T]) add(name string, value T) Named[T] {
	return append(n, NamedItem[T]{Name: name, Value: value})
}
