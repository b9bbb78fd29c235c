import type { ComponentChildren, JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useNotAllowedReason } from '../../api/session.ts';
import { useUrlParameters } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { galleryText } from './gallery-text.ts';
import { Lightbox } from './lightbox.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useSharedFavorites, useSteadyLinks } from './favorites-and-steady-links.ts';
import { useVideoSelection } from './use-video-selection.ts';
import { VideoCard } from './video-card.tsx';
import './gallery.css';

type GridProps = {
  readonly videos: readonly GalleryVideo[];
  /** Stands there without videos. */
  readonly empty: ComponentChildren;
  readonly onExpired: () => void;
};

/** Videos in rows, each in its own ratio. The one under the pointer or the focus plays; the address names the one that is open. */
export function VideoGrid({ videos, empty, onExpired }: GridProps) {
  const { get, set, push } = useUrlParameters();
  const grid = useRef<HTMLUListElement>(null);
  const [playing, setPlaying] = useState<string>();
  const selection = useVideoSelection(videos.map(({ taskId }) => taskId));
  const favorites = useSharedFavorites();
  const mayLabel = useNotAllowedReason('member') === undefined;
  const links = useSteadyLinks();
  const renew = (taskId: string) => {
    if (links.renew(taskId)) onExpired();
  };
  const cursor = get('cursor');
  const opened = useOpened(videos, get('video'));
  const stepTo = (video: GalleryVideo | undefined) => video && (() => set({ video: video.taskId, cursor }));
  const focusCard = (index: number) => {
    const cards = grid.current?.querySelectorAll<HTMLElement>('.open');
    const card = cards?.[Math.min(Math.max(index, 0), videos.length - 1)];
    (card ?? document.getElementById('main'))?.focus();
  };
  return (
    <>
      {videos.length === 0 ? (
        empty
      ) : (
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
                isPlaying={playing === one.taskId && opened === undefined}
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
        </>
      )}
      {opened !== undefined && (
        <Lightbox
          video={opened.video}
          links={links.linksOf(opened.video)}
          isFavorite={favorites.isFavorite(opened.video)}
          onFavorite={() => favorites.toggle(opened.video)}
          onNewer={stepTo(opened.newer)}
          onOlder={stepTo(opened.older)}
          onTagged={opened.tag}
          onBroken={() => renew(opened.video.taskId)}
          onClose={() => {
            const focus = () => focusCard(opened.index);
            if (history.state === 'video') {
              // The entry before is the page behind the video, with its state and its position, which the browser restores after the event.
              addEventListener('popstate', () => setTimeout(focus), { once: true });
              history.back();
            } else set({ video: undefined, cursor });
            focus();
          }}
        />
      )}
    </>
  );
}

/** The video that the address names. It stays open when a change, such as a removed tag, takes it out of the filtered list. */
function useOpened(videos: readonly GalleryVideo[], taskId: string | undefined) {
  const last = useRef<{ readonly video: GalleryVideo; readonly index: number }>();
  const [tagged, setTagged] = useState<GalleryVideo>();
  const found = videos.findIndex((one) => one.taskId === taskId);
  const listed = videos[found];
  if (listed !== undefined) last.current = { video: listed, index: found };
  else if (taskId === undefined) last.current = undefined;
  if (last.current === undefined || last.current.video.taskId !== taskId) return undefined;
  const { index } = last.current;
  // The list has the latest tags, but not those of a video that it no longer has.
  const video = listed ?? (tagged?.taskId === taskId ? tagged : last.current.video);
  return {
    video,
    index,
    newer: videos[index - 1],
    // The next video has moved up to where an unlisted one was.
    older: videos[listed === undefined ? index : index + 1],
    tag: (tags: readonly string[]) => setTagged({ ...video, tags }),
  };
}

type Keys = {
  readonly videos: readonly GalleryVideo[];
  readonly selection: ReturnType<typeof useVideoSelection>;
  /** Undefined for viewers, who may not change them. */
  readonly favorites: ReturnType<typeof useSharedFavorites> | undefined;
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
export function VideoGridSkeleton() {
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
