import { setImmediate as nextTurn } from 'node:timers/promises';
import { addNote, type Note } from './add-note.ts';
import { between, choose, createRandom, type Random } from '../random.ts';
import { samplesPerSecond, type Stereo } from './stereo.ts';

/** Half-tones above the root. Modes without harsh intervals between neighbouring chords. */
const scales = [
  [0, 2, 4, 7, 9],
  [0, 2, 3, 7, 10],
  [0, 2, 4, 6, 7, 9, 11],
  [0, 2, 3, 5, 7, 9, 10],
] as const;

/** Steps of the scale on which the chords stand. */
const progressions = [
  [0, 3, 1, 2],
  [0, 2, 4, 3],
  [0, 4, 2, 1],
  [0, 1, 3, 0],
] as const;

/** Loudest sample, 6 dB below full scale: pleasant beside other films, and the encoder may overshoot a little. */
const peak = 0.5;

const fadeInSeconds = 0.25;
const fadeOutSeconds = 0.9;

/** Slow chords with a plucked melody over them, of exactly the length asked for, fading in and out. */
export async function soundtrack(seed: string, durationSeconds: number): Promise<Stereo> {
  const length = durationSeconds * samplesPerSecond;
  const stereo = { left: new Float32Array(length), right: new Float32Array(length) };
  for (const note of composed(createRandom(seed, 'sound'), durationSeconds)) {
    addNote(stereo, note);
    // A note takes about a millisecond; requests are answered in between.
    await nextTurn();
  }
  finish(stereo);
  return stereo;
}

function composed(random: Random, durationSeconds: number): Note[] {
  const scale = choose<readonly number[]>(random, scales);
  const steps = choose<readonly number[]>(random, progressions);
  const rootHz = 110 * 2 ** (Math.floor(between(random, -3, 5)) / 12);
  const beatSeconds = 60 / between(random, 72, 96);
  const pitchHz = (step: number) => {
    const octave = Math.floor(step / scale.length);
    return rootHz * 2 ** (octave + (scale[step % scale.length] ?? 0) / 12);
  };
  const bars = Math.ceil(durationSeconds / (4 * beatSeconds));
  return Array.from({ length: bars }, (_, bar) => {
    const step = steps[bar % steps.length] ?? 0;
    const atSeconds = bar * 4 * beatSeconds;
    return [
      ...chord(step, atSeconds, 4 * beatSeconds, pitchHz),
      ...melody(random, step, atSeconds, beatSeconds, pitchHz),
    ];
  }).flat();
}

type Pitch = (step: number) => number;

function chord(step: number, atSeconds: number, lengthSeconds: number, pitchHz: Pitch): Note[] {
  const long = { atSeconds, attackSeconds: 0.5, holdSeconds: lengthSeconds - 0.3, decaySeconds: 0.7 };
  const voices = [step, step + 2, step + 4, step + 6];
  const pad = voices.map((voice, i) => {
    return { ...long, hz: pitchHz(voice), loudness: 0.16 - 0.02 * i, pan: 0.25 + i / 6, brightness: 0.3 };
  });
  return [{ ...long, hz: pitchHz(step) / 2, loudness: 0.2, pan: 0.5, brightness: 0.1 }, ...pad];
}

/** Eighth notes from the chord, two octaves up, some left out; every one has a fainter echo on the other side. */
function melody(random: Random, step: number, atSeconds: number, beatSeconds: number, pitchHz: Pitch): Note[] {
  const tones = [0, 2, 4, 6, 7, 9].map((tone) => step + tone);
  const [first = step, ...others] = tones;
  return Array.from({ length: 8 }, (_, i) => {
    const note: Note = {
      hz: pitchHz(choose(random, [first, ...others])) * 4,
      atSeconds: atSeconds + (i * beatSeconds) / 2,
      attackSeconds: 0.006,
      holdSeconds: 0,
      decaySeconds: 0.9,
      loudness: 0.11 * between(random, 0.6, 1),
      pan: between(random, 0.2, 0.8),
      brightness: 0.35,
    };
    const echo = {
      ...note,
      atSeconds: note.atSeconds + beatSeconds * 0.75,
      loudness: note.loudness * 0.4,
      pan: 1 - note.pan,
    };
    return random() < 0.3 ? [] : [note, echo];
  }).flat();
}

/** Brings the loudest sample to the peak and lays the fades over both ends. */
function finish({ left, right }: Stereo): void {
  let loudest = 1e-6;
  for (const channel of [left, right]) for (const sample of channel) loudest = Math.max(loudest, Math.abs(sample));
  for (const channel of [left, right]) {
    for (let i = 0; i < channel.length; i++) {
      const fadeIn = Math.min(1, i / (fadeInSeconds * samplesPerSecond));
      const fadeOut = Math.min(1, (channel.length - 1 - i) / (fadeOutSeconds * samplesPerSecond));
      channel[i] = (channel[i] ?? 0) * (peak / loudest) * fadeIn * fadeOut;
    }
  }
}
