// A QR code as squares of the page, so that it is sharp at any size. ISO/IEC 18004
import { encode } from 'uqr';

interface Canvas {
  rect(x: number, y: number, width: number, height: number): this;
  fill(color: string): this;
}

/** Draws the code of a text, without its quiet zone, into a square. Level M. */
export function drawQr(canvas: Canvas, text: string, x: number, y: number, side: number): void {
  const { data } = encode(text, { ecc: 'M', border: 0 });
  const module = side / data.length;
  for (const [row, cells] of data.entries()) {
    for (let from = 0; from < cells.length; from++) {
      if (!cells[from]) continue;
      let to = from;
      while (cells[to]) to++;
      canvas.rect(x + from * module, y + row * module, (to - from) * module, module);
      from = to;
    }
  }
  canvas.fill('#000000');
}
