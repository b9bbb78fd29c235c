import { useRef, useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useSend } from '../../api/read-and-send-hooks.ts';
import { toastFailure } from '../../ui/feedback/toast.tsx';

/** Favorites change immediately; when the latest request fails, they show what the service returned. */
export function useSharedFavorites() {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean | undefined>>>({});
  const { current: sending } = useRef(new Map<string, Promise<unknown>>());
  // Each call has a promise of its own; the callbacks of `mutate` would report the latest call alone.
  const { mutateAsync } = useSend('/api/v1/gallery/label', { changes: ['/api/v1/gallery/videos'] });
  const isFavorite = ({ taskId, favorite }: GalleryVideo) => chosen[taskId] ?? favorite;
  return {
    isFavorite,
    toggle: (video: GalleryVideo) => {
      const { taskId } = video;
      const favorite = !isFavorite(video);
      setChosen((all) => ({ ...all, [taskId]: favorite }));
      // In order: the service stores the request that arrives last.
      const sent = Promise.resolve(sending.get(taskId))
        .then(() => mutateAsync({ taskIds: [taskId], favorite }))
        .catch((error: unknown) => {
          // A later click has chosen something else already.
          if (sending.get(taskId) === sent) setChosen((all) => ({ ...all, [taskId]: undefined }));
          toastFailure(error);
        });
      sending.set(taskId, sent);
    },
  };
}

export type VideoLinks = Pick<GalleryVideo, 'videoUrl' | 'posterUrl'>;

/** A new link to a file that cannot be played would fail as well, and another read would sign the next one. */
const renewalMs = 60_000;
/** Links work for a day. Another read replaces those of half that age, before they fail one by one. */
const freshMs = 12 * 60 * 60_000;

type Known = {
  readonly links: VideoLinks;
  readonly signedMs: number;
  readonly isBroken: boolean;
  readonly renewedMs: number;
};

/** Each read signs other links. The first ones stay, so that no poster loads again, until one no longer works or is old. */
export function useSteadyLinks() {
  const { current: known } = useRef(new Map<string, Known>());
  return {
    linksOf: ({ taskId, videoUrl, posterUrl }: GalleryVideo): VideoLinks => {
      const before = known.get(taskId);
      // The page may be rendered before the read that signs another link has ended.
      if (before !== undefined && (before.links.videoUrl === videoUrl || !isReplaced(before))) return before.links;
      const links = { videoUrl, posterUrl };
      const signedMs = Date.now();
      known.set(taskId, { links, signedMs, isBroken: false, renewedMs: before?.renewedMs ?? -Infinity });
      return links;
    },
    /** Returns true if the videos have to be read again. */
    renew: (taskId: string): boolean => {
      const before = known.get(taskId);
      if (before === undefined || Date.now() - before.renewedMs < renewalMs) return false;
      known.set(taskId, { ...before, isBroken: true, renewedMs: Date.now() });
      return true;
    },
  };
}

function isReplaced({ isBroken, signedMs }: Known): boolean {
  return isBroken || Date.now() - signedMs > freshMs;
}
