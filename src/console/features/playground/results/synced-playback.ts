import { useEffect, useState } from 'preact/hooks';

// Several films that play as one. The longest is the clock: the others follow it, and stand at their last frame once they have ended.

/** Less than this is not seen; to correct it would make the film stutter. */
const driftSeconds = 0.12;
const endSeconds = 0.05;

type PlaybackState = { readonly isPlaying: boolean; readonly seconds: number; readonly lengthSeconds: number };

export type SyncedPlayback = PlaybackState & {
  /** The `ref` of the film of this name; the same function each time, so that a film is added once. */
  readonly filmOf: (name: string) => (film: HTMLVideoElement | null) => void;
  readonly toggle: () => void;
  readonly seek: (seconds: number) => void;
};

export function useSyncedPlayback(): SyncedPlayback {
  const [state, setState] = useState<PlaybackState>({ isPlaying: false, seconds: 0, lengthSeconds: 0 });
  const [{ stop, ...films }] = useState(() => createFilms(setState));
  useEffect(() => stop, [stop]);
  return { ...state, ...films };
}

type Films = Map<string, HTMLVideoElement>;

function createFilms(onState: (state: PlaybackState) => void) {
  const films: Films = new Map();
  let isPlaying = false;
  const show = () => {
    const clock = longestOf(films);
    onState({ isPlaying, seconds: clock?.currentTime ?? 0, lengthSeconds: clock?.duration ?? 0 });
  };
  const moveTo = (seconds: number) => {
    for (const film of loadedOf(films)) {
      film.currentTime = Math.min(seconds, film.duration);
      // A film that has ended would begin again.
      if (isPlaying && !hasEnded(film, seconds)) play(film);
    }
    show();
  };
  const toggle = () => {
    const clock = longestOf(films);
    if (clock === undefined) return;
    isPlaying = !isPlaying;
    if (!isPlaying) for (const film of films.values()) film.pause();
    // After a pause, because each film stopped a little later than the one before.
    moveTo(isPlaying && hasEnded(clock, clock.currentTime) ? 0 : clock.currentTime);
  };
  const filmOf = createRefs({
    add: (name, film) => films.set(name, film),
    remove: (name) => {
      films.delete(name);
      if (films.size === 0) isPlaying = false;
      show();
    },
    events: {
      timeupdate: (film) => {
        if (film !== longestOf(films)) return;
        follow(films, film, isPlaying);
        show();
      },
      ended: (film) => film === longestOf(films) && isPlaying && moveTo(0),
      // A film that is finished later joins the others at their time.
      loadedmetadata: () => moveTo(Math.max(...loadedOf(films).map(({ currentTime }) => currentTime))),
    },
  });
  const seek = (seconds: number) => moveTo(Math.max(0, seconds));
  return { filmOf, toggle, seek, stop: () => void (isPlaying = false) };
}

function loadedOf(films: Films): readonly HTMLVideoElement[] {
  return [...films.values()].filter(({ duration }) => Number.isFinite(duration));
}

function longestOf(films: Films): HTMLVideoElement | undefined {
  return loadedOf(films).toSorted((a, b) => b.duration - a.duration)[0];
}

function hasEnded({ duration }: HTMLVideoElement, seconds: number): boolean {
  return seconds >= duration - endSeconds;
}

function play(film: HTMLVideoElement): void {
  // Browsers refuse to play a film with sound before a click, and the others play on.
  film.play().catch(() => undefined);
}

function follow(films: Films, clock: HTMLVideoElement, isPlaying: boolean): void {
  for (const film of loadedOf(films)) {
    if (film === clock || film.seeking || hasEnded(film, clock.currentTime)) continue;
    if (Math.abs(film.currentTime - clock.currentTime) > driftSeconds) film.currentTime = clock.currentTime;
    if (isPlaying && film.paused) play(film);
  }
}

type Refs = {
  readonly add: (name: string, film: HTMLVideoElement) => void;
  readonly remove: (name: string) => void;
  readonly events: Readonly<Record<string, (film: HTMLVideoElement) => unknown>>;
};

/** One `ref` function per name, which follows the events of its film until the film is removed. */
function createRefs({ add, remove, events }: Refs) {
  const refs = new Map<string, (film: HTMLVideoElement | null) => void>();
  return (name: string) => {
    const known = refs.get(name);
    if (known !== undefined) return known;
    let listening = new AbortController();
    const ref = (film: HTMLVideoElement | null) => {
      listening.abort();
      if (film === null) return remove(name);
      listening = new AbortController();
      const { signal } = listening;
      add(name, film);
      for (const [event, run] of Object.entries(events)) film.addEventListener(event, () => run(film), { signal });
    };
    refs.set(name, ref);
    return ref;
  };
}
