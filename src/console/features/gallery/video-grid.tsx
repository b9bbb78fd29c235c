import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useRoleReason } from '../../api/session.ts';
import { useAddress } from '../../ui/filters.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { galleryText } from './gallery-text.ts';
import { Lightbox } from './lightbox.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useFavorites, useSteadyLinks } from './use-labels.ts';
import { useSelection } from './use-selection.ts';
import { VideoCard } from './video-card.tsx';
import './gallery.css';

type GridProps = { readonly videos: readonly GalleryVideo[]; readonly onExpired: () => void };

/** Videos in rows, each in its own ratio. The one under the pointer or the focus plays; the address names the one that is open. */
export function VideoGrid({ videos, onExpired }: GridProps) {
  const { get, set, push } = useAddress();
  const grid = useRef<HTMLUListElement>(null);
  const [playing, setPlaying] = useState<string>();
  const selection = useSelection(videos.map(({ taskId }) => taskId));
  const favorites = useFavorites();
  const mayLabel = useRoleReason('member') === undefined;
  const links = useSteadyLinks();
  const renew = (taskId: string) => {
    if (links.renew(taskId)) onExpired();
  };
  const cursor = get('cursor');
  const opened = videos.findIndex(({ taskId }) => taskId === get('video'));
  const show = (index: number) => set({ video: videos[index]?.taskId, cursor });
  const video = videos[opened];
  const focusCard = (index: number) =>
    grid.current?.querySelectorAll<HTMLElement>('.open')[Math.min(Math.max(index, 0), videos.length - 1)]?.focus();
  return (
    <>
      <ul
        ref={grid}
        class={selection.selected.length > 0 ? 'gallery selecting' : 'gallery'}
        aria-label={galleryText.videos}
        onKeyDown={(event) =>
          pressed(event, { videos, selection, favorites: mayLabel ? favorites : undefined, focusCard })
        }
      >
        {videos.map((one) => (
          <VideoCard
            key={one.taskId}
            video={one}
            links={links.linksOf(one)}
            isFavorite={favorites.isFavorite(one)}
            isSelected={selection.isSelected(one.taskId)}
            isPlaying={playing === one.taskId && video === undefined}
            onPlay={(isPlaying) =>
              setPlaying((current) => (isPlaying ? one.taskId : current === one.taskId ? undefined : current))
            }
            onOpen={() => push({ video: one.taskId, cursor }, 'video')}
            onSelect={(isRange) => selection.toggle(one.taskId, isRange)}
            onFavorite={() => favorites.toggle(one)}
            onBroken={() => renew(one.taskId)}
          />
        ))}
      </ul>
      <SelectionBar selection={selection} videos={videos} />
      {video !== undefined && (
        <Lightbox
          video={video}
          links={links.linksOf(video)}
          isFavorite={favorites.isFavorite(video)}
          onFavorite={() => favorites.toggle(video)}
          onNewer={opened > 0 ? () => show(opened - 1) : undefined}
          onOlder={opened < videos.length - 1 ? () => show(opened + 1) : undefined}
          onBroken={() => renew(video.taskId)}
          onClose={() => {
            set({ video: undefined, cursor });
            focusCard(opened);
          }}
        />
      )}
    </>
  );
}

type Keys = {
  readonly videos: readonly GalleryVideo[];
  readonly selection: ReturnType<typeof useSelection>;
  /** Undefined for viewers, who may not change them. */
  readonly favorites: ReturnType<typeof useFavorites> | undefined;
  readonly focusCard: (index: number) => void;
};

/** Arrows lead to the neighbors of the video with the focus, X selects it, with Shift as a range, and F makes it a favorite. */
function pressed(
  event: JSX.TargetedKeyboardEvent<HTMLElement>,
  { videos, selection, favorites, focusCard }: Keys,
): void {
  const cards = [...event.currentTarget.querySelectorAll('.video-card')];
  const index = cards.findIndex((card) => card.contains(document.activeElement));
  const video = videos[index];
  if (video === undefined || event.altKey) return;
  const key = event.key.toLowerCase();
  const step = { arrowleft: -1, arrowright: 1 }[key];
  if ((event.ctrlKey || event.metaKey) && key === 'a') selection.selectAll();
  else if (event.ctrlKey || event.metaKey) return;
  else if (step !== undefined) focusCard(index + step);
  // Key repeat would toggle the favorite with one request each time.
  else if (event.repeat) return;
  else if (key === 'x') selection.toggle(video.taskId, event.shiftKey);
  else if (key === 'f') favorites?.toggle(video);
  else if (key === 'escape') selection.clear();
  else return;
  event.preventDefault();
}

/** In the shapes of usual videos, so that little moves when they arrive. */
export function WaitingGrid() {
  return (
    <div class="gallery" aria-busy="true">
      {Array.from({ length: 8 }, (_, index) => (
        <div key={index} class="video-card" style={{ '--ratio': 16 / 9 }}>
          <Skeleton height="100%" />
        </div>
      ))}
    </div>
  );
}
