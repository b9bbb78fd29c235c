// Converts colors of high dynamic range to BT.709 with a table for ffmpeg's filter `lut3d`, which every build has. The filters zscale and
// tonemap need a library that common builds lack, and differ between versions.

const curves = ['pq', 'hlg', 'sdr'] as const;
const gamuts = ['bt2020', 'smpte432', 'bt709'] as const;

/** The encoding of a picture. `sdr`: a usual range in a wider gamut. */
export type WideColors = {
  readonly curve: (typeof curves)[number];
  readonly gamut: (typeof gamuts)[number];
  /** True if the file does not name its matrix, which is that of BT.2020 then. */
  readonly needsMatrix: boolean;
};

type Tags = { readonly [Tag in 'transfer' | 'primaries' | 'matrix']?: string | undefined };

/** Returns the colors that must be converted, by the tags of a video; undefined for those that every player shows as they are. */
export function wideColorsOf({ transfer, primaries, matrix }: Tags): WideColors | undefined {
  const curve = transfer === 'pq' || transfer === 'hlg' ? transfer : 'sdr';
  const isHdr = curve !== 'sdr';
  const gamut = gamuts.find((one) => one === primaries) ?? (isHdr ? 'bt2020' : 'bt709');
  if (!isHdr && gamut === 'bt709') return undefined;
  return { curve, gamut, needsMatrix: matrix === undefined };
}

/** Luminance of a white page, by ITU-R BT.2408: it becomes the white of BT.709. */
const whiteNits = 203;
const hlgPeakNits = 1000;
/** Brighter parts are compressed to what is above, so that they keep their shapes: a white page becomes 252 of 255. */
const kneeAt = 0.95;
/** The luminance that becomes the brightest value, as a multiple of white. */
const peak = hlgPeakNits / whiteNits;

/** Gamma of a display, by ITU-R BT.1886. */
const displayGamma = 2.4;

type Color = readonly [red: number, green: number, blue: number];

/** From linear colors of the gamut to linear colors of BT.709. */
const toBt709: Record<WideColors['gamut'], readonly [Color, Color, Color]> = {
  bt2020: [
    [1.660491, -0.587641, -0.07285],
    [-0.12455, 1.1329, -0.008349],
    [-0.018151, -0.100579, 1.11873],
  ],
  smpte432: [
    [1.22494, -0.22494, 0],
    [-0.042057, 1.042057, 0],
    [-0.019638, -0.078636, 1.098274],
  ],
  bt709: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
};

const sum = (weights: Color, [red, green, blue]: Color) => weights[0] * red + weights[1] * green + weights[2] * blue;
const each = ([red, green, blue]: Color, of: (value: number) => number): Color => [of(red), of(green), of(blue)];

/** Linear light of a display, of which 1 is white. */
const linear: Record<WideColors['curve'], (color: Color) => Color> = {
  pq: (color) => each(color, (value) => pqNits(value) / whiteNits),
  hlg: (color) => {
    const scene = each(color, hlgScene);
    const luminance = sum([0.2627, 0.678, 0.0593], scene);
    // The system gamma of a display of 1000 nits is 1.2.
    return each(scene, (value) => (value * luminance ** 0.2 * hlgPeakNits) / whiteNits);
  },
  sdr: (color) => each(color, (value) => value ** displayGamma),
};

/** SMPTE ST 2084. */
function pqNits(value: number): number {
  const root = value ** (1 / 78.84375);
  return 10_000 * (Math.max(0, root - 0.8359375) / (18.8515625 - 18.6875 * root)) ** (1 / 0.1593017578125);
}

/** ARIB STD-B67. */
function hlgScene(value: number): number {
  const [a, b, c] = [0.17883277, 0.28466892, 0.55991073];
  return value <= 0.5 ? value ** 2 / 3 : (Math.exp((value - c) / a) + b) / 12;
}

/** Returns a color of BT.709 as a display shows it; values are 0 to 1. */
export function convertColorToSdr({ curve, gamut }: WideColors, color: Color): Color {
  const light = linear[curve](color);
  const inGamut = each(
    [0, 1, 2].map((row) => sum(toBt709[gamut][row] ?? [0, 0, 0], light)) as unknown as Color,
    (value) => Math.max(0, value),
  );
  const brightest = Math.max(...inGamut);
  // All three are scaled alike, so that the hue stays.
  const scale = curve === 'sdr' || brightest <= kneeAt ? 1 : compressed(brightest) / brightest;
  return each(inGamut, (value) => Math.min(1, value * scale) ** (1 / displayGamma));
}

function compressed(value: number): number {
  const [above, range] = [(value - kneeAt) / (1 - kneeAt), (peak - kneeAt) / (1 - kneeAt)];
  return kneeAt + (1 - kneeAt) * Math.min(1, (above / (1 + above)) * ((1 + range) / range));
}

/** Points of each side: the most that old versions of ffmpeg read. */
const sidePoints = 64;

/** Yields the table in the format of `.cube` files, in parts, because all of it takes half a second: red changes fastest. */
export function* generateCubeFile(colors: WideColors): Generator<string> {
  yield `LUT_3D_SIZE ${sidePoints}\n`;
  for (const row of rowsOf(colors, sidePoints))
    yield row.map((color) => `${color.map((value) => value.toFixed(5)).join(' ')}\n`).join('');
}

export function sdrColorTable(colors: WideColors, points: number): Float32Array {
  return Float32Array.from([...rowsOf(colors, points)].flat(2));
}

function* rowsOf(colors: WideColors, points: number): Generator<readonly Color[]> {
  const steps = Array.from({ length: points }, (_, index) => index / (points - 1));
  for (const blue of steps)
    for (const green of steps) yield steps.map((red) => convertColorToSdr(colors, [red, green, blue]));
}

/** Filters that convert to BT.709. `cube` is the name of a file in the working folder of ffmpeg. */
export function sdrFilters({ needsMatrix }: WideColors, cube: string): readonly string[] {
  return [
    `scale=in_color_matrix=${needsMatrix ? 'bt2020' : 'auto'}`,
    'format=gbrp10le',
    `lut3d=file=${cube}:interp=tetrahedral`,
    'scale=out_color_matrix=bt709:out_range=tv',
    'format=yuv420p',
    // The luminance of the display that the film was graded on.
    'sidedata=mode=delete',
    'setparams=range=tv:color_primaries=bt709:color_trc=bt709:colorspace=bt709',
  ];
}

/** The tags of the output, which newer versions also take from the filters. */
export const sdrTags = '-color_primaries bt709 -color_trc bt709 -colorspace bt709 -color_range tv'.split(' ');
