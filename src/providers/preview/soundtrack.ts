import { setImmediate as nextTurn } from 'node:timers/promises';
import { between, choose, createRandom, type Random } from './film-random.ts';

/** Samples a second; a whole number of them falls on each of the 24 frames. */
export const samplesPerSecond = 48_000;

/** Times in seconds. After `hold`, a note fades to a twentieth of its loudness within `fade`. */
type Note = Readonly<Record<'hz' | 'at' | 'attack' | 'hold' | 'fade' | 'loudness', number>>;

/** Semitones above the root, without harsh intervals between neighboring chords. */
const scales = [
  [0, 2, 4, 7, 9],
  [0, 2, 3, 7, 10],
] as const;

/** The loudest sample is 6 dB below full scale: pleasant beside other films, and the encoder may overshoot a little. */
const peak = 0.5;
const [fadeInSeconds, fadeOutSeconds] = [0.25, 0.9];

/** Returns slow chords under a plucked melody, exactly as long as the film: the samples of the left and right channel alternate. */
export async function composeSoundtrack(seed: string, durationSeconds: number): Promise<Float32Array> {
  const sound = new Float32Array(durationSeconds * samplesPerSecond);
  for (const note of composed(createRandom(seed, 'sound'), durationSeconds)) {
    addNote(sound, note);
    // A note takes about a millisecond; requests are served in between.
    await nextTurn();
  }
  const loudest = sound.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1e-6);
  return Float32Array.from({ length: 2 * sound.length }, (_, i) => {
    const at = Math.floor(i / 2);
    const fadeIn = at / (fadeInSeconds * samplesPerSecond);
    const fadeOut = (sound.length - 1 - at) / (fadeOutSeconds * samplesPerSecond);
    return (sound[at] ?? 0) * (peak / loudest) * Math.min(1, fadeIn) * Math.min(1, fadeOut);
  });
}

function composed(random: Random, durationSeconds: number): Note[] {
  const scale = choose<readonly number[]>(random, scales);
  // Above 200 Hz the speaker of a phone plays most of it.
  const rootHz = 262 * 2 ** (Math.floor(between(random, -3, 5)) / 12);
  const beat = 60 / between(random, 72, 96);
  const hzOf = (step: number) =>
    rootHz * 2 ** (Math.floor(step / scale.length) + (scale[step % scale.length] ?? 0) / 12);
  return Array.from({ length: Math.ceil(durationSeconds / (4 * beat)) }, (_, bar) => {
    const [step, at] = [[0, 3, 1, 2][bar % 4] ?? 0, 4 * beat * bar];
    const chord = [0, 2, 4, 6].map((voice) => {
      return { hz: hzOf(step + voice), at, attack: 0.5, hold: 4 * beat - 0.3, fade: 0.7, loudness: 0.16 };
    });
    const melody = Array.from({ length: 8 }, (__, i) => {
      const hz = 2 * hzOf(step + choose(random, [0, 2, 4, 6, 7, 9]));
      const loudness = random() < 0.3 ? 0 : between(random, 0.1, 0.17);
      return { hz, at: at + (i * beat) / 2, attack: 0.006, hold: 0.006, fade: 0.9, loudness };
    });
    return [...chord, ...melody];
  }).flat();
}

/** One period of a wave with overtones, in a power of two of samples, so that a mask wraps it. */
const wave = Float32Array.from({ length: 4096 }, (_, i) => {
  const angle = (2 * Math.PI * i) / 4096;
  return Math.sin(angle) + 0.5 * Math.sin(2 * angle) + 0.25 * Math.sin(3 * angle);
});

/** Leaves out what lies beyond the end of the film. */
function addNote(sound: Float32Array, { hz, at, attack, hold, fade, loudness }: Note): void {
  const from = Math.round(at * samplesPerSecond);
  const [attackEnd, holdEnd] = [attack * samplesPerSecond, hold * samplesPerSecond];
  const end = Math.min(sound.length - from, (hold + 2.5 * fade) * samplesPerSecond);
  const [step, shrink] = [(hz * wave.length) / samplesPerSecond, Math.exp(-3 / (fade * samplesPerSecond))];
  let gain = 0;
  for (let i = 0; i < end; i++) {
    if (i < attackEnd) gain += loudness / attackEnd;
    else if (i > holdEnd) gain *= shrink;
    sound[from + i] = (sound[from + i] ?? 0) + gain * (wave[Math.trunc(i * step) & (wave.length - 1)] ?? 0);
  }
}
