// Which pictures can be drawn. pdfkit decodes some PNGs in a callback of its own, where an error would end the whole thread, and
// without a limit of memory; others it draws wrong. So a picture is checked before.
import { crc32, inflateSync } from 'node:zlib';

export const PICTURE_TYPES = ['image/png', 'image/jpeg'] as const;
export type PictureType = (typeof PICTURE_TYPES)[number];

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** Larger pictures would take the memory of many documents. */
const MOST_PIXELS = 4_000_000;
/** Samples of a pixel, and how many bits one may have, by PNG's kind of colour. */
const KINDS: Readonly<Record<number, { samples: number; depths: readonly number[] }>> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};
const PALETTE = 3;
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
/** Longer ones pdfkit can't read. */
const LONGEST_COMMENT = 60_000;

/** The type of a whole picture of a moderate size that can be drawn as it is; undefined of anything else. */
export function pictureType(bytes: Buffer): PictureType | undefined {
  if (isSoundPng(bytes)) return 'image/png';
  return isSoundJpeg(bytes) ? 'image/jpeg' : undefined;
}

function isSoundPng(bytes: Buffer): boolean {
  const chunks = chunksOf(bytes);
  const [head] = chunks ?? [];
  if (!chunks || head?.name !== 'IHDR' || head.data.length !== 13) return false;
  const [width, height] = [head.data.readUInt32BE(0), head.data.readUInt32BE(4)];
  const [depth = 0, kind = -1, , , interlaced = 2] = head.data.subarray(8);
  const { samples, depths } = KINDS[kind] ?? { samples: 0, depths: [] };
  if (!depths.includes(depth) || width * height === 0 || width * height > MOST_PIXELS) return false;
  const named = (name: string) => chunks.filter((chunk) => chunk.name === name).map(({ data }) => data);
  const [colors = Buffer.alloc(0), ...moreColors] = named('PLTE');
  const hasColors = colors.length > 0 && colors.length <= 768 && colors.length % 3 === 0 && moreColors.length === 0;
  if (kind === PALETTE ? !hasColors : colors.length > 0) return false;
  // pdfkit reads neither transparent colours without a palette nor samples of less than a byte where it has to take them apart.
  if (named('tRNS').length > 0 && (kind !== PALETTE || depth !== 8)) return false;
  if (interlaced > 1 || (interlaced === 1 && depth < 8)) return false;
  if (chunks.some(({ name, data }) => ANIMATED.has(name) || (name === 'tEXt' && data.length > LONGEST_COMMENT)))
    return false;
  if (named('IHDR').length > 1) return false;

  let pixels: Buffer;
  try {
    pixels = inflateSync(Buffer.concat(named('IDAT')), { maxOutputLength: MOST_PIXELS * 8 + 2 * height });
  } catch {
    return false;
  }
  const bits = depth * samples;
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

const ANIMATED = new Set(['acTL', 'fcTL', 'fdAT']);

/** The parts of a PNG up to its end; undefined if it is none, or one of them is damaged. */
function chunksOf(bytes: Buffer): { name: string; data: Buffer }[] | undefined {
  if (!bytes.subarray(0, PNG.length).equals(PNG)) return undefined;
  const chunks = [];
  for (let at = PNG.length; at + 12 <= bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at);
    if (end + 4 > bytes.length || crc32(bytes.subarray(at + 4, end)) !== bytes.readUInt32BE(end)) return undefined;
    const name = bytes.toString('latin1', at + 4, at + 8);
    if (name === 'IEND') return chunks;
    chunks.push({ name, data: bytes.subarray(at + 8, end) });
    at = end + 4;
  }
  return undefined;
}

/**
 * A sound JPEG without what the camera or the editor says of it: where, when and with what it was taken, by whom, and other pictures after
 * its end. What it is drawn by stays: JFIF, the colour profile, Adobe's transform, and which way up it is.
 */
export function withoutMetadata(jpeg: Buffer): Buffer {
  const kept = [jpeg.subarray(0, 2)];
  for (let at = 2; at + 4 <= jpeg.length; ) {
    const marker = jpeg[at + 1] ?? 0;
    if (marker === END) break;
    const end = at + 2 + jpeg.readUInt16BE(at + 2);
    const next = marker === SCAN ? nextMarker(jpeg, end) : end;
    const segment = jpeg.subarray(at, next);
    const begin = segment.toString('latin1', 1, 16);
    if (marker < APP || OF_COLOR.some((start) => start.test(begin))) kept.push(segment);
    else if (EXIF.test(begin)) kept.push(orientationOnly(segment.subarray(10)));
    at = next;
  }
  return Buffer.concat([...kept, Buffer.of(0xff, END)]);
}

/** Segments of applications and comments have this marker or a later one. */
const APP = 0xe0;
/** How the segments begin that the colours depend on: the marker, two bytes of length, a name. */
const OF_COLOR = [/^\xe0..JFIF\0/s, /^\xe2..ICC_PROFILE\0/s, /^\xee..Adobe/s];

const EXIF = /^\xe1..Exif\0\0/s;

const ORIENTATION = 0x0112;

/** A segment that says of an EXIF block which way up the picture is (1 to 8), and no more; empty where it is 1. Exif 2.3, 4.6.2 and 4.6.4 */
function orientationOnly(block: Buffer): Buffer {
  const isLittle = block.toString('latin1', 0, 2) === 'II';
  const read = (at: number, bytes: number) => {
    if (at + bytes > block.length) return 0;
    return isLittle ? block.readUIntLE(at, bytes) : block.readUIntBE(at, bytes);
  };
  const directory = read(4, 4);
  for (let at = directory + 2, left = read(directory, 2); left > 0; at += 12, left--) {
    if (read(at, 2) !== ORIENTATION) continue;
    const value = read(at + 8, 2);
    // A block with one entry: this number, of 2 bytes.
    const entry = `0112000300000001000${value}0000`;
    return value > 1 && value <= 8
      ? Buffer.from(`ffe100224578696600004d4d002a000000080001${entry}00000000`, 'hex')
      : Buffer.alloc(0);
  }
  return Buffer.alloc(0);
}

/** Where the data of a scan end: at the next marker that can't stand among them. */
function nextMarker(jpeg: Buffer, from: number): number {
  for (let at = jpeg.indexOf(0xff, from); at >= 0; at = jpeg.indexOf(0xff, at + 1)) {
    const marker = jpeg[at + 1] ?? 0;
    if (marker !== 0 && marker !== 0xff && (marker < 0xd0 || marker > 0xd7)) return at;
  }
  return jpeg.length;
}

/** Markers of a frame that PDF readers decode: baseline, extended and progressive. */
const FRAMES = new Set([0xc0, 0xc1, 0xc2]);
const [START, SCAN, END] = [0xd8, 0xda, 0xd9];

function isSoundJpeg(bytes: Buffer): boolean {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== START) return false;
  let framed = false;
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    const length = bytes.readUInt16BE(at + 2);
    if (bytes[at] !== 0xff || marker < 0xc0 || length < 2) return false;
    if (marker === SCAN) return framed && bytes.lastIndexOf(Buffer.of(0xff, END)) > at + length;
    if (FRAMES.has(marker)) {
      if (framed || length < 8 || at + 10 > bytes.length) return false;
      const pixels = bytes.readUInt16BE(at + 5) * bytes.readUInt16BE(at + 7);
      if (bytes[at + 4] !== 8 || pixels === 0 || pixels > MOST_PIXELS) return false;
      if (![1, 3, 4].includes(bytes[at + 9] ?? 0)) return false;
      framed = true;
    }
    at += 2 + length;
  }
  return false;
}
