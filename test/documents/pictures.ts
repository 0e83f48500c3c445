// Pictures for logos.
import { crc32, deflateSync } from 'node:zlib';

/** One part of a PNG. */
export function chunk(name: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

export interface Drawing {
  width?: number;
  height?: number;
  depth?: number;
  /** 0 grey, 2 colours, 3 palette, 4 and 6 with transparency. */
  kind?: 0 | 2 | 3 | 4 | 6;
  interlaced?: number;
  /** Between the head and the pixels. */
  more?: readonly Buffer[];
  /** Of each byte of a row's samples. */
  sample?: (at: number, row: number) => number;
}

const SAMPLES = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

export function png({ width = 24, height = 12, depth = 8, kind = 6, ...more }: Drawing = {}): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([depth, kind, 0, 0, more.interlaced ?? 0], 8);
  const length = Math.ceil((width * depth * SAMPLES[kind]) / 8);
  const rows = Array.from({ length: height }, (_, row) =>
    Buffer.from([0, ...Array.from({ length }, (_, at) => more.sample?.(at, row) ?? 0)]),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...(more.more ?? []),
    chunk('IDAT', deflateSync(Buffer.concat(rows))),
    chunk('IEND'),
  ]);
}

/** 24 by 12 pixels of one colour. */
export const JPEG = Buffer.from(
  '/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAMABgDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAME/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AjAUYAAH/2Q==',
  'base64',
);
