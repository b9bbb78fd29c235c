/**
 * Whether a packet of an H.264 track begins with a unit of that format that lies within it: a length of `lengthBytes` bytes, at
 * least one byte more, and the bit that the standard forbids not set. A hole in a file, and text in the place of a picture, do
 * not; nothing is decoded.
 */
export function beginsWithNalUnit(packet: Uint8Array, lengthBytes: number): boolean {
  if (packet.length <= lengthBytes) return false;
  const length = packet.subarray(0, lengthBytes).reduce((sum, byte) => sum * 256 + byte, 0);
  const forbidden = (packet[lengthBytes] ?? 0) >= 0x80;
  return length > 0 && length <= packet.length - lengthBytes && !forbidden;
}

/** How many bytes such a length has, as the decoder configuration (`avcC`, bytes) of the track says; undefined when it is none. */
export function nalLengthBytes(description: unknown): number | undefined {
  const [version, , , , sizes] = bytesOf(description);
  return version === 1 && sizes !== undefined ? (sizes & 3) + 1 : undefined;
}

/** mediabunny's own type for it is one of browsers, which Node's types do not have. */
function bytesOf(source: unknown): Uint8Array {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength);
  return source instanceof ArrayBuffer ? new Uint8Array(source) : new Uint8Array();
}
