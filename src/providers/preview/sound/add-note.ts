import { samplesPerSecond, type Stereo } from './stereo.ts';

export type Note = {
  readonly hz: number;
  readonly atSeconds: number;
  readonly attackSeconds: number;
  /** From the start to the moment in which it begins to die away. */
  readonly holdSeconds: number;
  /** Time in which it falls to about a twentieth. */
  readonly decaySeconds: number;
  readonly loudness: number;
  /** 0 is left, 1 is right. */
  readonly pan: number;
  /** 0 is a pure tone; more adds overtones. */
  readonly brightness: number;
};

/** One turn of a wave in so many samples; a power of two, so that a mask wraps it. */
const tableSize = 4096;
const sine = Float32Array.from({ length: tableSize }, (_, i) => Math.sin((2 * Math.PI * i) / tableSize));

/** The loudness is computed for so many samples at once (a thousandth of a second) and drawn straight in between. */
const blockSamples = 48;

/** Adds a note with its overtones; what lies beyond the end of the film is left out. */
export function addNote(stereo: Stereo, note: Note): void {
  const from = Math.round(note.atSeconds * samplesPerSecond);
  const seconds = note.holdSeconds + 2 * note.decaySeconds;
  const length = Math.min(stereo.left.length - from, Math.round(seconds * samplesPerSecond));
  const wave = cycle(note.brightness);
  for (let start = 0; start < length; start += blockSamples) {
    addBlock(stereo, note, wave, from, start, Math.min(blockSamples, length - start));
  }
}

function addBlock(stereo: Stereo, note: Note, wave: Float32Array, from: number, start: number, length: number): void {
  const step = (note.hz * tableSize) / samplesPerSecond;
  const loudness = envelope(note, start / samplesPerSecond);
  const change = (envelope(note, (start + blockSamples) / samplesPerSecond) - loudness) / blockSamples;
  // Equal power, so that a note is as loud at the side as in the middle.
  const toLeft = note.loudness * Math.cos((note.pan * Math.PI) / 2);
  const toRight = note.loudness * Math.sin((note.pan * Math.PI) / 2);
  let phase = (start * step) % tableSize;
  for (let i = 0; i < length; i++) {
    const sample = (wave[Math.trunc(phase) & (tableSize - 1)] ?? 0) * (loudness + change * i);
    const at = from + start + i;
    stereo.left[at] = (stereo.left[at] ?? 0) + sample * toLeft;
    stereo.right[at] = (stereo.right[at] ?? 0) + sample * toRight;
    phase += step;
  }
}

function cycle(brightness: number): Float32Array {
  return sine.map((sample, i) => {
    const second = sine[(2 * i) % tableSize] ?? 0;
    const third = sine[(3 * i) % tableSize] ?? 0;
    return sample + brightness * second + brightness ** 2 * third;
  });
}

function envelope(note: Note, seconds: number): number {
  const rise = Math.min(1, seconds / note.attackSeconds);
  if (seconds <= note.holdSeconds) return rise;
  // Ends at exactly nothing after twice the decay: an exponential alone would click when it is cut.
  const share = (seconds - note.holdSeconds) / note.decaySeconds;
  return rise * Math.exp(-3 * share) * Math.max(0, 1 - share / 2);
}
