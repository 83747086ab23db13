// The spans of a timeline in typed arrays, unpacked from the bytes that report/timeline_codec.hpp describes.

/** The bytes of a data block of the page. */
async function unpackBlock(id) {
  const node = document.getElementById(id);
  if (!node) return null;
  const text = node.textContent;
  if (node.dataset.encoding === 'json') return new TextEncoder().encode(text);
  if (typeof DecompressionStream === 'undefined')
    throw new Error('This browser can\'t unpack the data of this page; it needs DecompressionStream (browsers since 2023).');
  const packed = atob(text), raw = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; ++i) raw[i] = packed.charCodeAt(i);
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Numbers of variable length, one after the other. */
class VarintReader {
  constructor(bytes, from) {
    this.bytes = bytes;
    this.at = from;
  }
  next() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, factor = 128;
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * factor;  // not <<: times have more than 32 bits
      factor *= 128;
    } while (byte >= 128);
    return value;
  }
  nextSigned() {
    const value = this.next();
    if (value < 0x40000000) return value & 1 ? -(value >> 1) - 1 : value >> 1;
    return signedOf(value);
  }
}

const RECENT_KINDS = 64;

function signedOf(value) {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

/** The kinds of a lane that were used last, the last one first. */
class RecentKinds {
  constructor() {
    this.order = new Uint32Array(RECENT_KINDS);
    this.count = this.other = 0;
  }
  take(code) {
    const order = this.order;
    let position = code, kind = order[code];
    if (code >= RECENT_KINDS) {
      kind = this.other += signedOf(code - RECENT_KINDS);
      position = this.count < RECENT_KINDS ? this.count++ : RECENT_KINDS - 1;
    }
    for (let i = position; i > 0; --i) order[i] = order[i - 1];
    order[0] = kind;
    return kind;
  }
}

/** What the last spans of each kind were like, and in which lane. */
function lastSeen(kinds) {
  return {lane: new Int32Array(kinds).fill(-1), gap: new Float64Array(kinds), length: new Float64Array(kinds), number: new Float64Array(kinds)};
}

function decodeExact(lane, index, readers, last, out) {
  const recent = new RecentKinds(), {gap: gaps, length: lengths, number: numbers} = last;
  const [kindReader, gapReader, lengthReader, numberReader] = readers;
  const {start, end, number, share} = out, kindOf = out.kind;
  let free = 0;
  for (let i = lane.from; i < lane.to; ++i) {
    const kind = recent.take(kindReader.next());
    if (last.lane[kind] !== index) {
      last.lane[kind] = index;
      gaps[kind] = lengths[kind] = numbers[kind] = 0;
    }
    gaps[kind] += gapReader.nextSigned();
    lengths[kind] += lengthReader.nextSigned();
    numbers[kind] += numberReader.nextSigned();
    kindOf[i] = kind;
    number[i] = numbers[kind];
    start[i] = free + gaps[kind];
    free = start[i] + lengths[kind];
    end[i] = free;
    share[i] = 100;
  }
}

function decodeSummaries(lane, readers, out) {
  const recent = new RecentKinds(), bin = lane.bin_ns;
  const [kindReader, gapReader, lengthReader, numberReader, shareReader] = readers;
  let first = 0;
  for (let i = lane.from; i < lane.to; ++i) {
    out.kind[i] = recent.take(kindReader.next());
    first += gapReader.next();
    out.start[i] = first * bin;
    out.end[i] = (first + lengthReader.next() + 1) * bin;
    out.number[i] = numberReader.next();
    out.share[i] = shareReader.next();
  }
}

/** What the summaries of one bin stand on, in hundredths; scaled down where they add up to more than all. */
function stackSummaries(lane, data) {
  for (let i = lane.from; i < lane.to;) {
    let next = i, sum = 0;
    while (next < lane.to && data.start[next] === data.start[i]) sum += data.share[next++];
    const scale = sum > 100 ? 100 / sum : 1;
    for (let base = 0; i < next; ++i) {
      data.base[i] = base;
      base += data.share[i] * scale;
      data.height[i] = data.share[i] * scale;
    }
  }
}

/**
 * {lanes, kinds, start, end, kind, number, share, base, height, busy}: times in ns; lanes have `from` and `to`. busy[i]
 * is the busy time of all spans before i, so that the share of any window is a difference.
 */
function decodeTimeline(meta, bytes) {
  let count = 0;
  const lanes = meta.lanes.map((lane) => ({...lane, from: count, to: count += lane.spans}));
  const data = {
    lanes, kinds: meta.kinds, end_ns: meta.end_ns, count, start: new Float64Array(count), end: new Float64Array(count),
    kind: new Uint32Array(count), number: new Float64Array(count), share: new Uint8Array(count),
    base: new Uint8Array(count), height: new Uint8Array(count).fill(100), busy: new Float64Array(count + 1),
  };
  let offset = 0;
  const readers = meta.columns.map((length) => {
    const reader = new VarintReader(bytes, offset);
    offset += length;
    return reader;
  });
  const last = lastSeen(meta.kinds.length);
  lanes.forEach((lane, index) => {
    if (lane.bin_ns === 0) {
      decodeExact(lane, index, readers, last, data);
    } else {
      decodeSummaries(lane, readers, data);
      stackSummaries(lane, data);
    }
  });
  for (let i = 0; i < count; ++i) data.busy[i + 1] = data.busy[i] + (data.end[i] - data.start[i]) * data.share[i] / 100;
  return data;
}

/** The first index in [low, high) whose value is greater than `limit`; `high` if none. Values ascend. */
function firstAbove(values, limit, low, high) {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

/** The same from a place that is probably near: steps double before the search narrows. */
function gallop(values, limit, low, high) {
  let step = 1, reach = low;
  while (reach < high && values[reach] <= limit) {
    low = reach + 1;
    reach += step;
    step *= 2;
  }
  return firstAbove(values, limit, low, Math.min(reach, high));
}

/** Busy time of a lane between two instants. */
function busyBetween(data, lane, from, to) {
  const i = firstAbove(data.end, from, lane.from, lane.to);
  const j = firstAbove(data.start, to, i, lane.to);
  if (j <= i) return 0;
  let busy = data.busy[j] - data.busy[i];
  for (let k = i; k < j && data.start[k] < from; ++k) busy -= (from - data.start[k]) * data.share[k] / 100;
  for (let k = j - 1; k >= i && data.end[k] > to; --k) busy -= (data.end[k] - to) * data.share[k] / 100;
  return Math.max(0, busy);
}
