package runner

import (
	"errors"
	"reflect"
	"testing"
)

type axes struct {
	Region region
	Week   int
	Note   *string
	hidden int //nolint:unused // an axis must not name it
}

func TestExpandListIsTheCrossProduct(t *testing.T) {
	got, err := ExpandList[axes](Over("Region", "n", "s"), Over("Week", 1, 2, 3))
	want := []axes{{Region: "n", Week: 1}, {Region: "n", Week: 2}, {Region: "n", Week: 3}, {Region: "s", Week: 1}, {Region: "s", Week: 2}, {Region: "s", Week: 3}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	maps, err := ExpandList[map[string]any](Over("a", 1, 2), Over[any]("b", "x", nil))
	if err != nil || len(maps) != 4 || !reflect.DeepEqual(maps[3], map[string]any{"a": 2, "b": nil}) {
		t.Errorf("maps: %v, %v", maps, err)
	}
	for name, list := range map[string][]Axis{"no axes": nil, "an empty axis": {Over("Week", 1), Over[string]("Region")}} {
		if got, err := ExpandList[axes](list...); err != nil || len(got) != 0 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestExpandListRefusesWhatDoesNotFit(t *testing.T) {
	for name, axis := range map[string]Axis{
		"no such field":    Over("Weak", 1),
		"unexported field": Over("hidden", 1),
		"other type":       Over("Week", "one"),
		"nil":              Over[any]("Week", nil),
		"wider type":       Over("Week", int64(1)),
	} {
		if got, err := ExpandList[axes](axis); !errors.Is(err, ErrBadArgument) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	type byPointer struct{ *axes }
	if _, err := ExpandList[byPointer](Over("Week", 1)); !errors.Is(err, ErrBadArgument) {
		t.Errorf("embedded pointer: %v", err)
	}
	type byValue struct{ axes }
	if got, err := ExpandList[byValue](Over("Week", 1)); err != nil || len(got) != 1 || got[0].Week != 1 {
		t.Errorf("embedded struct: %v, %v", got, err)
	}
	if _, err := ExpandList[axes](Over("Week", 1), Over("Week", 2)); !errors.Is(err, ErrBadArgument) {
		t.Errorf("twice: %v", err)
	}
	if _, err := ExpandList[int](Over("Week", 1)); !errors.Is(err, ErrBadArgument) {
		t.Errorf("int: %v", err)
	}
	if got, err := ExpandList[axes](Over[*string]("Note", nil)); err != nil || len(got) != 1 {
		t.Errorf("nil pointer: %v, %v", got, err)
	}
}
