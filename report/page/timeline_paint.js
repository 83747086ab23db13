// Painting of lanes. Whatever is narrower than a pixel is merged into it: a pixel is filled as high as it was busy, in
// the colour of one of its spans. The pixels stand on a grid in time, not on the edge of the view, so that panning moves
// a picture instead of making another one.

/**
 * Paints one lane through sink.rect(x0, x1, y0, y1, index, wide): pixels [x0, x1) and rows [y0, y1) of the span `index`;
 * `wide` where the span is drawn by itself. view: {from, perPixel, width}.
 */
function paintLane(data, lane, view, top, height, sink) {
  const {start, end, busy, share, base} = data;
  const {from, perPixel, width} = view;
  const high = lane.to;
  let x = 0, i = firstAbove(end, from, lane.from, high);
  while (x < width && i < high) {
    const left = from + x * perPixel, right = left + perPixel;
    if (start[i] >= right) {  // a gap
      x = Math.max(x + 1, Math.floor((start[i] - from) / perPixel));
      continue;
    }
    const stop = Math.min(width, Math.floor((end[i] - from) / perPixel));
    if (stop > x + 1) {
      // Wider than a pixel: all summaries of the bin, or the one span.
      const begin = start[i];
      for (; i < high && start[i] === begin && end[i] > right; ++i) {
        const bottom = top + height - Math.round(base[i] * height / 100);
        const rows = Math.max(1, Math.round(data.height[i] * height / 100));
        sink.rect(x, stop, Math.max(top, bottom - rows), bottom, i, true);
        if (lane.bin_ns === 0) break;
      }
      x = stop;
      const edge = from + x * perPixel;
      if (lane.bin_ns !== 0) {
        i = firstAbove(end, edge, lane.from, high);
      } else if (i < high && end[i] <= edge) {
        ++i;
      }
      continue;
    }
    // All that lies in this pixel.
    const next = gallop(start, right, i, high);
    let filled = busy[next] - busy[i];
    for (let k = i; k < next && start[k] < left; ++k) filled -= (left - start[k]) * share[k] / 100;
    for (let k = next - 1; k >= i && end[k] > right; --k) filled -= (end[k] - right) * share[k] / 100;
    const rows = Math.max(1, Math.round(Math.min(1, filled / perPixel) * height));
    sink.rect(x, x + 1, top + height - rows, top + height, (i + next - 1) >>> 1, false);
    ++x;
    // What reaches into the next pixel: the last span, or the last summaries, which end together.
    for (i = next; i > lane.from && end[i - 1] > right;) --i;
  }
}

/** 32-bit colours (little endian RGBA) from #rrggbb; `fade` towards another colour. */
function packedColour(hex, towards = null, fade = 0) {
  const channel = (text, c) => parseInt(text.slice(1 + 2 * c, 3 + 2 * c), 16);
  const mix = (c) => {
    const own = channel(hex, c);
    return Math.round(towards ? own + (channel(towards, c) - own) * fade : own);
  };
  return (255 << 24 | mix(2) << 16 | mix(1) << 8 | mix(0)) >>> 0;
}

function cssColour(packed) {
  return `rgb(${packed & 255},${packed >>> 8 & 255},${packed >>> 16 & 255})`;
}

/** True where dark text reads better than light text on the colour. */
function wantsDarkText(packed) {
  return 0.299 * (packed & 255) + 0.587 * (packed >>> 8 & 255) + 0.114 * (packed >>> 16 & 255) > 140;
}

/** Rectangles into the pixels of an ImageData; wide ones get an edge and are remembered for their labels. */
class PixelSink {
  constructor(image, data, colours, edges) {
    this.pixels = new Uint32Array(image.data.buffer);
    this.width = image.width;
    this.rows = image.height;
    this.kind = data.kind;
    this.colours = colours;
    this.edges = edges;
    this.labels = [];
    this.labelWidth = 42;
  }
  rect(x0, x1, y0, y1, index, wide) {
    const colour = this.colours[this.kind[index]], pixels = this.pixels, width = this.width;
    const last = Math.min(y1, this.rows), gap = wide && x1 - x0 >= 4;
    for (let y = Math.max(0, y0); y < last; ++y) {
      const row = y * width;
      for (let x = row + x0; x < row + x1; ++x) pixels[x] = colour;
      if (gap) pixels[row + x0] = this.edges[this.kind[index]];
    }
    if (wide && x1 - x0 > this.labelWidth && y1 - y0 >= 9) this.labels.push({x0, x1, y0, y1, index});
  }
}

/** Rectangles as SVG text; neighbours of one colour and height are one. */
class SvgSink {
  constructor(data, colours) {
    this.kind = data.kind;
    this.colours = colours;
    this.parts = [];
    this.last = null;
    this.labels = [];
  }
  rect(x0, x1, y0, y1, index, wide) {
    const kind = this.kind[index], last = this.last;
    if (wide && x1 - x0 > 60 && y1 - y0 >= 9) this.labels.push({x0, x1, y0, y1, index});
    if (!wide && last && last.x1 === x0 && last.y0 === y0 && last.y1 === y1 && last.kind === kind) {
      last.x1 = x1;
      return;
    }
    this.flush();
    this.last = {x0, x1, y0, y1, kind};
  }
  flush() {
    const r = this.last;
    if (r) this.parts.push(`<rect x="${r.x0}" y="${r.y0}" width="${Math.max(0.5, r.x1 - r.x0 - (r.x1 - r.x0 > 4 ? 0.5 : 0))}" height="${r.y1 - r.y0}" fill="${cssColour(this.colours[r.kind])}"/>`);
    this.last = null;
  }
}
