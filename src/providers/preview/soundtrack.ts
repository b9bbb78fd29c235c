import { setImmediate as nextTurn } from 'node:timers/promises';
import { between, choose, createRandom, type Random } from './random.ts';

/** Samples a second; a whole number of them falls on each of the 24 pictures. */
export const samplesPerSecond = 48_000;

/** Times in seconds; `fall` is the time in which a note dies away to a twentieth. `pan` is 0 at the left and 1 at the right. */
type Note = Readonly<Record<'hz' | 'at' | 'attack' | 'hold' | 'fall' | 'loudness' | 'pan', number>>;

/** Half-tones above the root, in modes without harsh intervals between neighbouring chords. */
const scales = [
  [0, 2, 4, 7, 9],
  [0, 2, 3, 7, 10],
  [0, 2, 4, 6, 7, 9, 11],
] as const;

/** Steps of the scale on which the chords stand. */
const steps = [0, 3, 1, 2] as const;

/** Loudest sample, 6 dB below full scale: pleasant beside other films, and the encoder may overshoot a little. */
const peak = 0.5;
const [fadeInSeconds, fadeOutSeconds] = [0.25, 0.9];

/**
 * Slow chords with a plucked melody over them, fading in and out, of exactly the length asked for: left and right in turn. Most
 * of it lies above 300 Hz, where the speaker of a telephone can play it.
 */
export async function soundtrack(seed: string, durationSeconds: number): Promise<Float32Array> {
  const sound = new Float32Array(2 * durationSeconds * samplesPerSecond);
  for (const note of composed(createRandom(seed, 'sound'), durationSeconds)) {
    addNote(sound, note);
    // A note takes about a millisecond; requests are answered in between.
    await nextTurn();
  }
  return finished(sound);
}

function composed(random: Random, durationSeconds: number): Note[] {
  const scale = choose<readonly number[]>(random, scales);
  const rootHz = 262 * 2 ** (Math.floor(between(random, -3, 5)) / 12);
  const beat = 60 / between(random, 72, 96);
  const hzOf = (step: number) =>
    rootHz * 2 ** (Math.floor(step / scale.length) + (scale[step % scale.length] ?? 0) / 12);
  return Array.from({ length: Math.ceil(durationSeconds / (4 * beat)) }, (_, bar) => {
    const [step, at] = [steps[bar % steps.length] ?? 0, bar * 4 * beat];
    const long = { at, attack: 0.5, hold: 4 * beat - 0.3, fall: 0.7 };
    const chord = [0, 2, 4, 6].map((voice) => {
      return { ...long, hz: hzOf(step + voice), loudness: 0.16 - 0.01 * voice, pan: 0.25 + voice / 12 };
    });
    const melody = Array.from({ length: 8 }, (__, i) => {
      const tone = choose(random, [0, 2, 4, 6, 7, 9]);
      return plucked(random, at + (i * beat) / 2, beat, 2 * hzOf(step + tone));
    });
    return [{ ...long, hz: hzOf(step) / 2, loudness: 0.06, pan: 0.5 }, ...chord, ...melody.flat()];
  }).flat();
}

/** A note of the melody and its fainter echo on the other side; some are left out. */
function plucked(random: Random, at: number, beat: number, hz: number): Note[] {
  const [loudness, pan] = [0.17 * between(random, 0.6, 1), between(random, 0.2, 0.8)];
  const note = { hz, at, attack: 0.006, hold: 0.006, fall: 0.9, loudness, pan };
  const echo = { ...note, at: at + 0.75 * beat, loudness: 0.4 * loudness, pan: 1 - pan };
  return random() < 0.3 ? [] : [note, echo];
}

/** One turn of a wave with overtones, in a power of two of samples, so that a mask wraps it. */
const wave = Float32Array.from({ length: 4096 }, (_, i) => {
  const angle = (2 * Math.PI * i) / 4096;
  return Math.sin(angle) + 0.5 * Math.sin(2 * angle) + 0.25 * Math.sin(3 * angle);
});

/** What lies beyond the end of the film is left out. */
function addNote(sound: Float32Array, { hz, at, attack, hold, fall, loudness, pan }: Note): void {
  const from = Math.round(at * samplesPerSecond);
  const [attackEnd, holdEnd] = [attack * samplesPerSecond, hold * samplesPerSecond];
  const end = Math.min(sound.length / 2 - from, (hold + 2.5 * fall) * samplesPerSecond);
  const [step, shrink] = [(hz * wave.length) / samplesPerSecond, Math.exp(-3 / (fall * samplesPerSecond))];
  // Equal power, so that a note is as loud at the side as in the middle.
  const [left, right] = [Math.cos((pan * Math.PI) / 2), Math.sin((pan * Math.PI) / 2)];
  let gain = 0;
  for (let i = 0; i < end; i++) {
    if (i < attackEnd) gain += loudness / attackEnd;
    else if (i > holdEnd) gain *= shrink;
    const sample = gain * (wave[Math.trunc(i * step) & (wave.length - 1)] ?? 0);
    const place = 2 * (from + i);
    sound[place] = (sound[place] ?? 0) + left * sample;
    sound[place + 1] = (sound[place + 1] ?? 0) + right * sample;
  }
}

/** The loudest sample at the peak, and the fades over both ends. */
function finished(sound: Float32Array): Float32Array {
  const loudest = sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-6);
  const [fadeIn, fadeOut] = [2 * samplesPerSecond * fadeInSeconds, 2 * samplesPerSecond * fadeOutSeconds];
  return sound.map((sample, i) => {
    const fade = Math.min(1, (i & ~1) / fadeIn) * Math.min(1, ((sound.length - 1 - i) & ~1) / fadeOut);
    return sample * (peak / loudest) * fade;
  });
}
