package chart

import (
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// draw lays out, from top to bottom: title, legend, plot. The legend has a
// strip of its own, so that it covers nothing.
func (c *Chart) draw(dc draw.Canvas) error {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	dc = draw.Crop(dc, margin, -margin, margin, -margin)

	title := style(titleSize)
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y - title.Rectangle(c.Title).Max.Y}, c.Title)
	dc = draw.Crop(dc, 0, 0, 0, -1.1*vg.Centimeter)

	p, entries, err := c.plot()
	if err != nil {
		return err
	}
	drawLegend(draw.Crop(dc, 0, 0, dc.Size().Y-0.6*vg.Centimeter, 0), entries)
	p.Draw(draw.Crop(dc, 0, 0, 0, -0.9*vg.Centimeter))
	return nil
}

// entry is one line of the legend.
type entry struct {
	name  string
	thumb plot.Thumbnailer
}

// drawLegend puts the entries side by side.
func drawLegend(dc draw.Canvas, entries []entry) {
	for _, e := range entries {
		legend := plot.NewLegend()
		legend.TextStyle = style(legendSize)
		legend.ThumbnailWidth = 0.9 * vg.Centimeter
		legend.Top, legend.Left = true, true
		legend.Add(e.name, e.thumb)
		legend.Draw(dc)
		size := legend.Rectangle(dc).Size()
		dc = draw.Crop(dc, size.X+0.9*vg.Centimeter, 0, 0, 0)
	}
}

func (c *Chart) plot() (*plot.Plot, []entry, error) {
	p := plot.New()
	p.BackgroundColor = color.White
	c.axes(p)

	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = gridColour
	p.Add(grid)

	var entries []entry
	var below *plotter.BarChart
	for i, s := range c.Bars {
		bars, err := plotter.NewBarChart(plotter.Values(s.Values), 0.62*stepWidth)
		if err != nil {
			return nil, nil, err
		}
		bars.Color = barColours[i]
		bars.LineStyle.Width = 0
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		p.Add(bars)
		entries = append(entries, entry{s.Name, bars})
	}
	for i, s := range c.Lines {
		thumb, err := c.addLine(p, s, lineColours[i], draw.CircleGlyph{})
		if err != nil {
			return nil, nil, err
		}
		entries = append(entries, entry{s.Name, thumb})
	}
	p.Add(groups(c.Groups))
	return p, entries, nil
}

func (c *Chart) axes(p *plot.Plot) {
	p.X.Label.Text, p.Y.Label.Text = c.XLabel, c.YLabel
	p.X.Label.TextStyle, p.Y.Label.TextStyle = centred(style(textSize)), centred(style(textSize))
	p.X.Label.Padding, p.Y.Label.Padding = 4, 6
	p.X.Min, p.X.Max = -0.5, float64(len(c.Steps))-0.5
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.Tick.Label = centred(style(tickSize))
	p.X.Tick.Label.YAlign = draw.YTop
	p.Y.Tick.Label.Font = style(tickSize).Font
	p.X.Tick.Length = 0
	p.X.Tick.Marker = plot.ConstantTicks(c.stepTicks())
	top := c.highest()
	p.Y.Min, p.Y.Max = 0, 1.28*top
	var ticks []plot.Tick
	for every, v := max(1, int(top)/6), 0; v <= int(top); v += every {
		ticks = append(ticks, plot.Tick{Value: float64(v), Label: strconv.Itoa(v)})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
}

// stepTicks gives all names the same number of lines, so that their first lines
// are at one height.
func (c *Chart) stepTicks() []plot.Tick {
	lines := 0
	for _, name := range c.Steps {
		lines = max(lines, strings.Count(name, "\n"))
	}
	ticks := make([]plot.Tick, len(c.Steps))
	for i, name := range c.Steps {
		name += strings.Repeat("\n ", lines-strings.Count(name, "\n"))
		ticks[i] = plot.Tick{Value: float64(i), Label: name}
	}
	return ticks
}

// highest is the top of the highest bar or line, and 1 at least.
func (c *Chart) highest() float64 {
	top := 1.0
	for i := range c.Steps {
		stack := 0.0
		for _, s := range c.Bars {
			stack += s.Values[i]
		}
		top = max(top, stack)
		for _, s := range c.Lines {
			top = max(top, s.Values[i])
		}
	}
	return top
}

// addLine draws one step line for each group, so that none runs from a group
// into the next, and a glyph at each step.
func (c *Chart) addLine(p *plot.Plot, s Series, colour color.Color, shape draw.GlyphDrawer) (plot.Thumbnailer, error) {
	var thumb lineThumb
	for _, g := range c.Groups {
		var points plotter.XYs
		for i := g.From; i < g.To; i++ {
			points = append(points, plotter.XY{X: float64(i), Y: s.Values[i]})
		}
		line, glyphs, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.StepStyle = plotter.MidStep
		line.Color, line.Width = colour, vg.Points(2.5)
		glyphs.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(4), Shape: shape}
		p.Add(line, glyphs)
		thumb = lineThumb{line, glyphs}
	}
	return thumb, nil
}

// lineThumb is a line with its glyph on it.
type lineThumb struct {
	line   *plotter.Line
	glyphs *plotter.Scatter
}

func (t lineThumb) Thumbnail(c *draw.Canvas) {
	t.line.Thumbnail(c)
	t.glyphs.Thumbnail(c)
}

// groups draws the lines between the groups, and their names at the top.
type groups []Group

func (g groups) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	name := centred(style(textSize))
	name.YAlign = draw.YTop
	for i, group := range g {
		left, right := x(float64(group.From)-0.5), x(float64(group.To)-0.5)
		if i > 0 {
			c.StrokeLine2(draw.LineStyle{Color: inkColour, Width: vg.Points(1)}, left, c.Min.Y, left, c.Max.Y)
		}
		y := c.Max.Y - vg.Points(2)
		for line := range strings.SplitSeq(group.Name, "\n") {
			c.FillText(name, vg.Point{X: (left + right) / 2, Y: y}, line)
			y -= 1.35 * name.Font.Size
		}
	}
}

func style(size font.Length) text.Style {
	return text.Style{
		Color:   inkColour,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		Handler: plot.DefaultTextHandler,
	}
}

func centred(s text.Style) text.Style {
	s.XAlign = draw.XCenter
	return s
}
