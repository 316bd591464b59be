package chart

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image/color"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Ratio is one bar: how much something takes of what it is compared with.
type Ratio struct {
	Name, Against string
	Label         string // the value, as it is written
	Value         float64
	Low, High     float64 // the spread of Value
	Reach         float64 // the highest value that is good
}

// Ratios is a chart of horizontal bars, each with a mark at its reach.
type Ratios struct {
	Title, XLabel string
	Rows          []Ratio
}

const (
	rowHeight   = 1.15 * vg.Centimeter
	ratiosWidth = 27 * vg.Centimeter
	namesWidth  = 10.5 * vg.Centimeter
)

// Write draws the chart into a PNG file, with its figures as text in it: see
// [Figures].
func (c *Ratios) Write(path string) error {
	if len(c.Rows) == 0 {
		return errors.New("chart: there are no ratios to draw")
	}
	height := rowHeight*vg.Length(len(c.Rows)) + 3.6*vg.Centimeter
	image := vgimg.NewWith(vgimg.UseWH(ratiosWidth, height), vgimg.UseDPI(dotsPerIn))
	if err := c.draw(draw.New(image)); err != nil {
		return fmt.Errorf("chart: %s: %w", path, err)
	}
	var b bytes.Buffer
	if _, err := (vgimg.PngCanvas{Canvas: image}).WriteTo(&b); err != nil {
		return fmt.Errorf("chart: %s: %w", path, err)
	}
	if err := os.WriteFile(path, withText(b.Bytes(), c.Figures()), 0o644); err != nil { //nolint:gosec // a picture is for everyone to see
		return fmt.Errorf("chart: %w", err)
	}
	return nil
}

// Figures are the figures that are drawn, one row a line.
func (c *Ratios) Figures() string {
	var b strings.Builder
	for _, r := range c.Rows {
		fmt.Fprintf(&b, "%s | %s | %.3f | %.3f to %.3f | %.3f\n", r.Name, r.Against, r.Value, r.Low, r.High, r.Reach)
	}
	return b.String()
}

func (c *Ratios) draw(dc draw.Canvas) error {
	dc.SetColor(color.White)
	dc.Fill(dc.Rectangle.Path())
	dc = draw.Crop(dc, margin, -margin, margin, -margin)
	title := style(titleSize - 2)
	dc.FillText(title, vg.Point{X: dc.Min.X, Y: dc.Max.Y - title.Rectangle(c.Title).Max.Y}, c.Title)
	dc = draw.Crop(dc, 0, 0, 0, -1.1*vg.Centimeter)

	p := plot.New()
	p.BackgroundColor = color.White
	p.X.Label.Text, p.X.Label.TextStyle, p.X.Label.Padding = c.XLabel, centred(style(textSize)), 6
	p.X.Tick.Label.Font = style(tickSize).Font
	p.HideY()
	p.Y.Min, p.Y.Max = -0.5, float64(len(c.Rows))-0.5
	p.X.Min, p.X.Max = 0, 1.25*c.highest()
	p.X.Padding = 0
	p.X.Tick.Marker = plot.ConstantTicks(c.ticks())
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = nil, gridColour
	p.Add(grid, ratioBars(c.Rows))

	values := make(plotter.Values, len(c.Rows))
	bars, err := plotter.NewBarChart(values, vg.Points(1))
	if err != nil {
		return err
	}
	bars.Color, bars.LineStyle.Width = barColours[1], 0
	legend := draw.Crop(dc, namesWidth, 0, dc.Size().Y-0.6*vg.Centimeter, 0)
	drawLegend(legend, []entry{{"median", bars}, {"lowest to highest round", spreadThumb{}}, {"reach", reachThumb{}}})
	body := draw.Crop(dc, namesWidth, 0, 0, -0.9*vg.Centimeter)
	p.Draw(body)
	c.names(dc, p, body)
	return nil
}

// names writes what each bar is, at its left.
func (c *Ratios) names(dc draw.Canvas, p *plot.Plot, body draw.Canvas) {
	data := p.DataCanvas(body)
	_, y := p.Transforms(&data)
	name, against := style(textSize), style(tickSize)
	name.YAlign, against.YAlign = text.YBottom, text.YTop
	against.Color = color.RGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff}
	for i, r := range c.Rows {
		at := vg.Point{X: dc.Min.X, Y: y(float64(len(c.Rows) - 1 - i))}
		dc.FillText(name, at, r.Name)
		dc.FillText(against, at, "against "+r.Against)
	}
}

// highest is the end of the longest bar or mark, and 1 at least.
func (c *Ratios) highest() float64 {
	top := 1.0
	for _, r := range c.Rows {
		top = max(top, r.Value, r.High, r.Reach)
	}
	return top
}

func (c *Ratios) ticks() []plot.Tick {
	every := 0.25
	for c.highest()/every > 10 {
		every *= 2
	}
	var ticks []plot.Tick
	for i := 0; float64(i)*every <= 1.25*c.highest(); i++ {
		v := float64(i) * every
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.2f", v)})
	}
	return ticks
}

// ratioBars draws the bars, the first at the top.
type ratioBars []Ratio

func (rows ratioBars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	label := style(textSize)
	label.YAlign = text.YCenter
	c.StrokeLine2(sameLine, x(1), c.Min.Y, x(1), c.Max.Y)
	for i, r := range rows {
		middle := y(float64(len(rows) - 1 - i))
		half := 0.3 * rowHeight
		c.FillPolygon(barColours[1], []vg.Point{
			{X: x(0), Y: middle - half}, {X: x(r.Value), Y: middle - half},
			{X: x(r.Value), Y: middle + half}, {X: x(0), Y: middle + half},
		})
		c.StrokeLine2(spreadLine, x(r.Low), middle, x(r.High), middle)
		c.StrokeLine2(reachLine, x(r.Reach), middle-1.35*half, x(r.Reach), middle+1.35*half)
		end := max(x(r.Value), x(r.High), x(r.Reach)) + vg.Points(6)
		c.FillText(label, vg.Point{X: end, Y: middle}, r.Label)
	}
}

var (
	spreadLine = draw.LineStyle{Color: inkColour, Width: vg.Points(1.5)}
	sameLine   = draw.LineStyle{Color: inkColour, Width: vg.Points(0.75), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	reachLine  = draw.LineStyle{Color: lineColours[0], Width: vg.Points(3)}
)

type spreadThumb struct{}

func (spreadThumb) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(spreadLine, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
}

type reachThumb struct{}

func (reachThumb) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(reachLine, c.Center().X, c.Min.Y, c.Center().X, c.Max.Y)
}

// A PNG file begins with its signature and the chunk IHDR, 33 bytes in all. The
// text goes into a chunk after them.
const (
	pngHead    = 33
	pngKeyword = "Figures"
)

func withText(png []byte, words string) []byte {
	body := append([]byte("iTXt"+pngKeyword+"\x00\x00\x00\x00\x00"), words...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)-4)) //nolint:gosec // a few hundred bytes
	chunk = append(chunk, body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(body))
	out := append(bytes.Clone(png[:pngHead]), chunk...)
	return append(out, png[pngHead:]...)
}

// Figures returns the figures that a file of [Ratios.Write] shows.
func Figures(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("chart: %w", err)
	}
	head := []byte("iTXt" + pngKeyword + "\x00\x00\x00\x00\x00")
	if len(data) < pngHead+4 || !bytes.HasPrefix(data[pngHead+4:], head) {
		return "", fmt.Errorf("chart: %s was not drawn by this package: it holds no figures", path)
	}
	size := int(binary.BigEndian.Uint32(data[pngHead:]))
	end := pngHead + 8 + size
	if end > len(data) || pngHead+4+len(head) > end {
		return "", fmt.Errorf("chart: %s is cut off", path)
	}
	return string(data[pngHead+4+len(head) : end]), nil
}
