import type { Ref } from 'preact';
import { useRef, useState } from 'preact/hooks';

type PlayerProps = {
  readonly url: string;
  readonly posterUrl: string | null;
  /** Links are signed for some hours: a film that no longer plays gets a fresh one. */
  readonly onExpired: () => void;
  /** Controls elsewhere on the page play it, together with others; it is loaded early, so that they start together. */
  readonly shared?: ExternalControlProps | undefined;
};

export type ExternalControlProps = { readonly film: Ref<HTMLVideoElement>; readonly isMuted: boolean };

/** Each reading signs another link; the first one stays while the film plays, or polling would begin it again. */
export function Player({ url, posterUrl, onExpired, shared }: PlayerProps) {
  const shown = useRef({ url, posterUrl });
  const [isBroken, setBroken] = useState(false);
  if (isBroken) shown.current = { url, posterUrl };
  return (
    // The films have no spoken words that captions could hold; sound is made up by the model.
    // oxlint-disable-next-line jsx-a11y/media-has-caption
    <video
      playsinline
      {...(shared === undefined
        ? { controls: true, preload: 'metadata' }
        : { ref: shared.film, muted: shared.isMuted, preload: 'auto' })}
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
