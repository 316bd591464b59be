// Package chart draws what happened to some counts from one step to the next:
// stacked bars and step lines over named steps, in groups. It decides how that
// looks; what is counted is the caller's.
package chart

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Series is one count for every step.
type Series struct {
	Name   string
	Values []float64
}

// Group is a run of steps that belong together: the steps From up to, but
// without, To, counted from 0.
type Group struct {
	Name     string
	From, To int
}

// Chart is what is drawn.
type Chart struct {
	Title, XLabel, YLabel string
	// Steps names the steps. A line break in a name is drawn as one.
	Steps []string
	// Bars are stacked, the first at the bottom; Lines go over them.
	Bars, Lines []Series
	// Groups are set apart by vertical lines. They must cover all steps, in
	// order. A name can have two lines.
	Groups []Group
}

// The colours are those of Okabe and Ito, which people with any kind of colour
// blindness can tell apart. They also differ in brightness.
var (
	barColours = []color.Color{
		color.RGBA{R: 0xb0, G: 0xb0, B: 0xb0, A: 0xff},
		color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
		color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
	}
	lineColours = []color.Color{
		color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
		color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
	}
	inkColour  = color.RGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	gridColour = color.RGBA{R: 0xd8, G: 0xd8, B: 0xd8, A: 0xff}
)

const (
	stepWidth  = 1.75 * vg.Centimeter
	margin     = 0.4 * vg.Centimeter
	chrome     = 2.2 * vg.Centimeter // what the y axis takes
	height     = 14.5 * vg.Centimeter
	dotsPerIn  = 120
	titleSize  = 17
	legendSize = 13
	textSize   = 12
	tickSize   = 11
)

// Write draws the chart into files; the ending of each, .png or .svg, says
// which format.
func (c *Chart) Write(paths ...string) error {
	for _, path := range paths {
		if err := c.write(path); err != nil {
			return fmt.Errorf("chart: %w", err)
		}
	}
	return nil
}

func (c *Chart) write(path string) error {
	if err := c.check(); err != nil {
		return err
	}
	width := stepWidth*vg.Length(len(c.Steps)) + chrome + 2*margin
	var canvas vg.CanvasSizer
	var output io.WriterTo
	switch ending := filepath.Ext(path); ending {
	case ".png":
		image := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dotsPerIn))
		canvas, output = image, vgimg.PngCanvas{Canvas: image}
	case ".svg":
		image := vgsvg.New(width, height)
		canvas, output = image, svg{image}
	default:
		return fmt.Errorf("%s: the ending %q is no format; use .png or .svg", path, ending)
	}
	if err := c.draw(draw.New(canvas)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = output.WriteTo(file)
	return errors.Join(err, file.Close())
}

// svg names fonts for a viewer that does not have ours: Arial is as wide.
type svg struct{ canvas io.WriterTo }

func (s svg) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := s.canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	n, err := w.Write(text)
	return int64(n), err
}

func (c *Chart) check() error {
	if len(c.Steps) == 0 {
		return errors.New("there are no steps to draw")
	}
	if len(c.Bars) > len(barColours) || len(c.Lines) > len(lineColours) {
		return fmt.Errorf("at most %d bars and %d lines can be told apart", len(barColours), len(lineColours))
	}
	for _, series := range [][]Series{c.Bars, c.Lines} {
		for _, s := range series {
			if len(s.Values) != len(c.Steps) {
				return fmt.Errorf("series %q has %d values for %d steps", s.Name, len(s.Values), len(c.Steps))
			}
		}
	}
	next := 0
	for _, g := range c.Groups {
		if g.From != next || g.To <= g.From || g.To > len(c.Steps) {
			return fmt.Errorf("group %q is steps %d to %d, and should begin at %d", g.Name, g.From, g.To, next)
		}
		next = g.To
	}
	if next != len(c.Steps) {
		return fmt.Errorf("the groups end at step %d of %d", next, len(c.Steps))
	}
	return nil
}
