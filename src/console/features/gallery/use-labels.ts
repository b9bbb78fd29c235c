import { useRef, useState } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { useSend } from '../../api/queries.ts';
import { toast } from '../../ui/toast.tsx';

/** Favorites change immediately; a request that fails changes them back. */
export function useFavorites() {
  const [chosen, setChosen] = useState<Readonly<Record<string, boolean>>>({});
  const { mutate } = useSend('/api/v1/gallery/label', { changes: ['/api/v1/gallery/videos'] });
  const isFavorite = ({ taskId, favorite }: GalleryVideo) => chosen[taskId] ?? favorite;
  return {
    isFavorite,
    toggle: (video: GalleryVideo) => {
      const { taskId } = video;
      const favorite = !isFavorite(video);
      setChosen((all) => ({ ...all, [taskId]: favorite }));
      const undo = () => setChosen((all) => ({ ...all, [taskId]: !favorite }));
      mutate(
        { taskIds: [taskId], favorite },
        {
          onError: (error) => {
            undo();
            toast(failureOf(error).sentence, 'bad');
          },
        },
      );
    },
  };
}

export type Links = Pick<GalleryVideo, 'videoUrl' | 'posterUrl'>;

/** Each read signs other links. The first ones stay, so that no poster loads again, until one no longer works. */
export function useSteadyLinks() {
  const { current: links } = useRef(new Map<string, Links>());
  return {
    linksOf: ({ taskId, videoUrl, posterUrl }: GalleryVideo): Links => {
      const known = links.get(taskId) ?? { videoUrl, posterUrl };
      links.set(taskId, known);
      return known;
    },
    renew: (taskId: string) => void links.delete(taskId),
  };
}
