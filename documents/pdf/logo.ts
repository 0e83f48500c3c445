// Which pictures can be drawn. pdfkit decodes some PNGs in a callback of its own, where an error would end the whole thread, and
// without a limit of memory: so a PNG is checked before.
import { inflateSync } from 'node:zlib';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Larger pictures would take the memory of many documents. */
const MOST_PIXELS = 4_000_000;
/** Samples of a pixel by PNG's kind of colour. */
const SAMPLES: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };
const WHOLE = [[0, 0, 1, 1]] as const;
/** The first column and row of each pass of an interlaced PNG, and its steps. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Whether a PNG is whole and of a moderate size. */
export function isSoundPng(bytes: Buffer): boolean {
  if (!bytes.subarray(0, PNG.length).equals(PNG) || bytes.length < 33) return false;
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const [depth = 0, kind = -1, , , interlaced] = bytes.subarray(24, 29);
  const bits = depth * (SAMPLES[kind] ?? 0);
  if (bits === 0 || width * height === 0 || width * height > MOST_PIXELS) return false;
  let pixels: Buffer;
  try {
    pixels = inflateSync(Buffer.concat(dataOf(bytes)), { maxOutputLength: MOST_PIXELS * 8 + 2 * height });
  } catch {
    return false;
  }
  let at = 0;
  for (const [x, y, acrossStep, downStep] of interlaced ? PASSES : WHOLE) {
    const across = Math.ceil((width - x) / acrossStep);
    const down = Math.ceil((height - y) / downStep);
    if (across <= 0) continue;
    for (let row = 0; row < down; row++) {
      if ((pixels[at] ?? 5) > 4) return false;
      at += 1 + Math.ceil((across * bits) / 8);
    }
  }
  return at === pixels.length;
}

function dataOf(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = PNG.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (name === 'IDAT') parts.push(bytes.subarray(at + 8, at + 8 + length));
    if (name === 'IEND') break;
    at += 12 + length;
  }
  return parts;
}
