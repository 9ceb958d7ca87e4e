// Colours of skins as SGR parameters for the colours that a terminal has.

/** How many colours the terminal shows; `none` also means no bold, no underline. */
export type ColorDepth = "none" | "16" | "256" | "truecolor";
export type Background = "dark" | "light";

type Rgb = readonly [red: number, green: number, blue: number];

const BLACK: Rgb = [0x12, 0x12, 0x12];
const WHITE: Rgb = [0xfa, 0xfa, 0xfa];
/** The ratio that accessibility guidelines ask for in text. */
const MIN_CONTRAST = 4.5;

/** The sixteen colours as most terminals show them, in the order of their numbers. */
const SIXTEEN: readonly Rgb[] = [
  [0, 0, 0],
  [187, 0, 0],
  [0, 153, 0],
  [170, 120, 0],
  [40, 80, 200],
  [170, 0, 170],
  [0, 150, 160],
  [190, 190, 190],
  [110, 110, 110],
  [255, 85, 85],
  [85, 230, 85],
  [255, 230, 85],
  [110, 140, 255],
  [255, 110, 255],
  [85, 230, 230],
  [255, 255, 255],
];
const CUBE = [0, 95, 135, 175, 215, 255];

/** `#rgb` or `#rrggbb`; undefined for anything else. */
export function parseHex(text: string): Rgb | undefined {
  const short = /^#([\da-f])([\da-f])([\da-f])$/i.exec(text.trim());
  const digits = short ? short.slice(1).map((digit) => digit + digit) : /^#(..)(..)(..)$/.exec(text.trim())?.slice(1);
  const values = digits?.map((pair) => (/^[\da-f]{2}$/i.test(pair) ? Number.parseInt(pair, 16) : Number.NaN));
  if (values?.length !== 3 || values.some(Number.isNaN)) return undefined;
  return values as unknown as Rgb;
}

function luminance(rgb: Rgb): number {
  const [red, green, blue] = rgb.map((value) => {
    const part = value / 255;
    return part <= 0.039_28 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Moves a colour towards black or white until it can be read on the background. */
function readable(rgb: Rgb, background: Background): Rgb {
  const behind = background === "dark" ? BLACK : WHITE;
  const towards = background === "dark" ? 255 : 0;
  let color = rgb;
  for (let step = 1; step <= 10 && contrast(color, behind) < MIN_CONTRAST; step++)
    color = rgb.map((value) => Math.round(value + ((towards - value) * step) / 10)) as unknown as Rgb;
  return color;
}

function distance(one: Rgb, other: Rgb): number {
  return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2;
}

function nearestIndex(rgb: Rgb, palette: readonly Rgb[]): number {
  let best = 0;
  for (const [index, color] of palette.entries())
    if (distance(rgb, color) < distance(rgb, palette[best] ?? color)) best = index;
  return best;
}

function cubeNumber(rgb: Rgb): number {
  const steps = rgb.map((value) =>
    nearestIndex(
      [value, 0, 0],
      CUBE.map((step): Rgb => [step, 0, 0]),
    ),
  );
  const [red = 0, green = 0, blue = 0] = steps;
  const cube: Rgb = [CUBE[red] ?? 0, CUBE[green] ?? 0, CUBE[blue] ?? 0];
  const grayStep = Math.min(23, Math.max(0, Math.round(((rgb[0] + rgb[1] + rgb[2]) / 3 - 8) / 10)));
  const gray = 8 + grayStep * 10;
  if (distance(rgb, [gray, gray, gray]) < distance(rgb, cube)) return 232 + grayStep;
  return 16 + 36 * red + 6 * green + blue;
}

function parameters(rgb: Rgb, depth: ColorDepth, ground: "fore" | "back"): string {
  const base = ground === "fore" ? 38 : 48;
  if (depth === "truecolor") return `${base};2;${rgb.join(";")}`;
  if (depth === "256") return `${base};5;${cubeNumber(rgb)}`;
  const number = nearestIndex(rgb, SIXTEEN);
  const first = ground === "fore" ? 30 : 40;
  return String(number < 8 ? first + number : first + 60 + number - 8);
}

/** SGR parameters for text in this colour, made readable on the background; empty without colours or for no colour. */
export function foreground(hex: string, depth: ColorDepth, background: Background): string {
  const rgb = parseHex(hex);
  return depth === "none" || !rgb ? "" : parameters(readable(rgb, background), depth, "fore");
}

/** SGR parameters for a background in this colour; with sixteen colours there is none, because few would be readable. */
export function backdrop(hex: string, depth: ColorDepth): string {
  const rgb = parseHex(hex);
  return depth === "none" || depth === "16" || !rgb ? "" : parameters(rgb, depth, "back");
}

/** True when text in one colour can be read on the other. */
export function isReadable(text: string, behind: string): boolean {
  const [one, other] = [parseHex(text), parseHex(behind)];
  return one !== undefined && other !== undefined && contrast(one, other) >= 3;
}
