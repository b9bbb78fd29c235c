import { box } from '../support/hostile/hostile-clips.ts';

// Writes a HEIC from one frame of HEVC, as phones do; ffmpeg has no writer for it.

const number = (value: number, bytes = 4) => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
};
const full = (type: string, version: number, ...content: readonly (Buffer | string)[]) =>
  box(type, number(version << 24), ...content);

type Properties = {
  readonly width: number;
  readonly height: number;
  /** Anticlockwise quarters by which the picture is turned. */
  readonly turns?: number;
  /** An ICC profile. */
  readonly profile?: Buffer;
  /** The numbers of its primaries and its transfer. */
  readonly colors?: readonly [primaries: number, transfer: number];
};

/** `mp4`: a film of one frame, whose decoder configuration and picture become the image. */
export function heicOf(mp4: Buffer, { width, height, turns, profile, colors }: Properties): Buffer {
  const configuration = boxAt(mp4, 'hvcC');
  const data = boxAt(mp4, 'mdat').subarray(8);
  const properties = [
    configuration,
    full('ispe', 0, number(width), number(height)),
    ...(turns === undefined ? [] : [box('irot', number(turns, 1))]),
    ...(profile === undefined ? [] : [box('colr', 'prof', profile)]),
    ...(colors === undefined
      ? []
      : [box('colr', 'nclx', ...colors.map((one) => number(one, 2)), number(1, 2), number(0, 1))]),
  ];
  const associations = Buffer.from(properties.map((_, index) => (index === 0 ? 0x80 : 0) | (index + 1)));
  const meta = (dataAt: number) =>
    full(
      'meta',
      0,
      full('hdlr', 0, number(0), 'pict', Buffer.alloc(13)),
      full('pitm', 0, number(1, 2)),
      full(
        'iloc',
        0,
        number(0x4400, 2),
        number(1, 2),
        number(1, 2),
        number(0, 2),
        number(1, 2),
        number(dataAt),
        number(data.length),
      ),
      full('iinf', 0, number(1, 2), full('infe', 2, number(1, 2), number(0, 2), 'hvc1', number(0, 1))),
      box(
        'iprp',
        box('ipco', ...properties),
        full('ipma', 0, number(1), number(1, 2), number(properties.length, 1), associations),
      ),
    );
  const brand = box('ftyp', 'heic', number(0), 'mif1heic');
  const head = brand.length + meta(0).length + 8;
  return Buffer.concat([brand, meta(head), box('mdat', data)]);
}

function boxAt(file: Buffer, type: string): Buffer {
  const at = file.indexOf(type, 0, 'latin1') - 4;
  if (at < 0) throw new Error(`no box ${type}`);
  return file.subarray(at, at + file.readUInt32BE(at));
}
