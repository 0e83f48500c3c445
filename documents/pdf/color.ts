// The company's colour, dark enough to be read on white and to be written on in white. WCAG 2.2, 1.4.3

/** Of documents whose company has none. */
export const DEFAULT_COLOR = '#1f4e79';
const CONTRAST = 4.5;

export const isColor = (text: string) => /^#[0-9a-f]{6}$/i.test(text);

function luminance(channels: readonly number[]): number {
  const [red = 0, green = 0, blue = 0] = channels.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** `#rrggbb`, darkened as far as it has to be; what is not a colour is the default one. */
export function readableColor(color: string | undefined): string {
  const hex = /^#?([0-9a-f]{6})$/i.exec(color ?? '')?.[1];
  if (!hex) return DEFAULT_COLOR;
  let channels = [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));
  while (1.05 / (luminance(channels) + 0.05) < CONTRAST) channels = channels.map((value) => Math.floor(value * 0.94));
  return `#${channels.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
