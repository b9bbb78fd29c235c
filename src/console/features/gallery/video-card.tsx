import { useEffect, useRef, useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useNotAllowedReason } from '../../api/session.ts';
import { Film, Star } from '../../ui/controls/icons.ts';
import { galleryText } from './gallery-text.ts';
import type { VideoLinks } from './favorites-and-steady-links.ts';

type CardProps = {
  readonly video: GalleryVideo;
  readonly links: VideoLinks;
  readonly isFavorite: boolean;
  readonly isSelected: boolean;
  readonly isPlaying: boolean;
  readonly onPlay: (isPlaying: boolean) => void;
  readonly onOpen: () => void;
  readonly onSelect: (isRange: boolean) => void;
  readonly onFavorite: () => void;
  readonly onBroken: () => void;
};

/** A pointer that only crosses a card loads no video. */
const restMs = 120;

export function VideoCard(props: CardProps) {
  const { video, links, isFavorite, isSelected, isPlaying, onPlay, onOpen, onSelect, onFavorite, onBroken } = props;
  const { prompt, width, height, seconds, tags } = video;
  const memberReason = useNotAllowedReason('member');
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const stop = () => {
    clearTimeout(timer.current);
    onPlay(false);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <li
      class={isSelected ? 'video-card selected' : 'video-card'}
      style={{ '--ratio': width / height }}
      onPointerEnter={({ pointerType }) => {
        if (pointerType === 'mouse') timer.current = setTimeout(() => onPlay(true), restMs);
      }}
      onPointerLeave={stop}
      onFocusCapture={({ target }) =>
        target instanceof Element && target.matches('.open:focus-visible') && onPlay(true)
      }
      onBlurCapture={stop}
    >
      <button type="button" class="open" onClick={onOpen}>
        <Picture posterUrl={links.posterUrl} onBroken={onBroken} />
        {isPlaying && <Preview url={links.videoUrl} onBroken={onBroken} />}
        <span class="about">
          <span class="visually-hidden">{galleryText.open} </span>
          <span class="words truncate">{galleryText.short(prompt)}</span>
          {tags.length > 0 && <span class="words truncate">{tags.map((tag) => `#${tag}`).join(' ')}</span>}
        </span>
        <span class="length">{galleryText.seconds(seconds)}</span>
      </button>
      <input
        type="checkbox"
        aria-label={galleryText.select(prompt)}
        checked={isSelected}
        onClick={({ shiftKey }) => onSelect(shiftKey)}
      />
      <button
        type="button"
        class="star"
        aria-label={galleryText.favoriteOf(prompt)}
        aria-pressed={isFavorite}
        aria-disabled={memberReason !== undefined}
        title={memberReason ?? galleryText.favorite}
        onClick={() => memberReason === undefined && onFavorite()}
      >
        <Star size={16} aria-hidden="true" />
      </button>
    </li>
  );
}

type PictureProps = { readonly posterUrl: string; readonly onBroken: () => void };

function Picture({ posterUrl, onBroken }: PictureProps) {
  const [broken, setBroken] = useState<string>();
  if (broken === posterUrl) return <Film size={24} aria-hidden="true" />;
  const onError = () => {
    setBroken(posterUrl);
    onBroken();
  };
  return <img src={posterUrl} alt="" loading="lazy" decoding="async" onError={onError} />;
}

/** Starts immediately, without sound; people who prefer less motion see the poster. */
function Preview({ url, onBroken }: { readonly url: string; readonly onBroken: () => void }) {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return null;
  return <video src={url} muted autoplay loop playsinline aria-hidden="true" tabIndex={-1} onError={onBroken} />;
}
