import { useEffect, useRef, useState } from 'preact/hooks';

// Several films that play as one. The longest is the clock: the others follow it, and stand at their last frame once they have ended.

/** Less than this is not seen; to correct it would make the film stutter. */
const driftSeconds = 0.12;
const endSeconds = 0.05;

type PlaybackState = { readonly isPlaying: boolean; readonly seconds: number; readonly lengthSeconds: number };

export type Playback = PlaybackState & {
  /** The `ref` of the film of this name; the same function each time, so that a film is added once. */
  readonly filmOf: (name: string) => (film: HTMLVideoElement | null) => void;
  readonly toggle: () => void;
  readonly seek: (seconds: number) => void;
};

export function usePlayback(): Playback {
  const [state, setState] = useState<PlaybackState>({ isPlaying: false, seconds: 0, lengthSeconds: 0 });
  const { current: films } = useRef(createFilms(setState));
  useEffect(() => films.stop, [films]);
  return { ...state, ...films };
}

function createFilms(onState: (state: PlaybackState) => void) {
  const films = new Map<string, HTMLVideoElement>();
  const refs = new Map<string, (film: HTMLVideoElement | null) => void>();
  const listening = new Map<string, AbortController>();
  let isPlaying = false;

  const loaded = () => [...films.values()].filter(({ duration }) => Number.isFinite(duration));
  const longest = () => loaded().toSorted((a, b) => b.duration - a.duration)[0];
  const show = () => {
    const clock = longest();
    onState({ isPlaying, seconds: clock?.currentTime ?? 0, lengthSeconds: clock?.duration ?? 0 });
  };
  const moveTo = (seconds: number) => {
    for (const film of loaded()) film.currentTime = Math.min(seconds, film.duration);
  };
  const pause = () => {
    isPlaying = false;
    for (const film of films.values()) film.pause();
    // Each stopped a little later than the one before.
    moveTo(longest()?.currentTime ?? 0);
    show();
  };
  const play = (film: HTMLVideoElement) => {
    // Browsers may refuse to play a film with sound, or have not loaded it yet.
    film.play().catch(() => undefined);
  };
  const follow = () => {
    const clock = longest();
    if (clock === undefined) return;
    for (const film of loaded()) {
      if (film === clock || film.seeking || clock.currentTime >= film.duration - endSeconds) continue;
      if (Math.abs(film.currentTime - clock.currentTime) > driftSeconds) film.currentTime = clock.currentTime;
      if (isPlaying && film.paused) play(film);
    }
    show();
  };
  const restart = () => {
    moveTo(0);
    for (const film of loaded()) play(film);
  };
  const seek = (seconds: number) => {
    moveTo(Math.max(0, Math.min(seconds, longest()?.duration ?? 0)));
    if (isPlaying) for (const film of loaded()) play(film);
    show();
  };
  const toggle = () => {
    const clock = longest();
    if (clock === undefined) return;
    if (isPlaying) return pause();
    isPlaying = true;
    moveTo(clock.currentTime >= clock.duration - endSeconds ? 0 : clock.currentTime);
    for (const film of loaded()) play(film);
    show();
  };
  const add = (name: string, film: HTMLVideoElement) => {
    const { signal } = addedTo(listening, name);
    films.set(name, film);
    const on = (event: string, run: () => void) => film.addEventListener(event, run, { signal });
    on('timeupdate', () => film === longest() && follow());
    on('ended', () => film === longest() && isPlaying && restart());
    // A film that is finished later joins the others where they are.
    on('loadedmetadata', () => {
      film.currentTime = Math.min(longest()?.currentTime ?? 0, film.duration);
      follow();
    });
    if (film.readyState > 0) follow();
  };
  const remove = (name: string) => {
    listening.get(name)?.abort();
    films.delete(name);
    if (films.size === 0) isPlaying = false;
    show();
  };
  const filmOf = (name: string) => {
    const known = refs.get(name);
    if (known !== undefined) return known;
    const ref = (film: HTMLVideoElement | null) => (film === null ? remove(name) : add(name, film));
    refs.set(name, ref);
    return ref;
  };
  return { filmOf, toggle, seek, stop: () => void (isPlaying = false) };
}

function addedTo(listening: Map<string, AbortController>, name: string): AbortController {
  listening.get(name)?.abort();
  const controller = new AbortController();
  listening.set(name, controller);
  return controller;
}
