import { useEffect, useRef, useState } from 'preact/hooks';

type PlayerProps = {
  readonly url: string;
  readonly posterUrl: string | null;
  /** Links are signed for some hours: a film that no longer plays gets a fresh one. */
  readonly onExpired: () => void;
};

/** Each reading signs another link; the first one stays while the film plays, or polling would begin it again. */
export function Player({ url, posterUrl, onExpired }: PlayerProps) {
  const shown = useRef({ url, posterUrl });
  const [isBroken, setBroken] = useState(false);
  const isPosterThere = useLoaded(shown.current.posterUrl);
  if (isBroken) shown.current = { url, posterUrl };
  return (
    // The films have no spoken words that captions could hold; sound is made up by the model.
    // oxlint-disable-next-line jsx-a11y/media-has-caption
    <video
      controls
      playsinline
      preload={isPosterThere ? 'metadata' : 'none'}
      aria-label="The generated video"
      src={shown.current.url}
      {...(shown.current.posterUrl !== null && { poster: shown.current.posterUrl })}
      onPlaying={() => setBroken(false)}
      onError={() => {
        if (isBroken) return;
        setBroken(true);
        onExpired();
      }}
    />
  );
}

/** Whether the picture has come, or will not. A film that begins to load beside it takes the line from it. */
function useLoaded(url: string | null): boolean {
  const [isLoaded, setLoaded] = useState(url === null);
  useEffect(() => {
    if (url === null) return undefined;
    const image = new Image();
    const done = () => setLoaded(true);
    image.addEventListener('load', done);
    image.addEventListener('error', done);
    image.src = url;
    return () => {
      image.removeEventListener('load', done);
      image.removeEventListener('error', done);
    };
  }, []);
  return isLoaded;
}
