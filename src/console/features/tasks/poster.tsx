import { useState } from 'preact/hooks';
import type { TaskRecord } from '../../api/contract.ts';
import { CircleAlert, Clapperboard, Film } from '../../ui/icons.ts';
import { taskWord } from './tasks-text.ts';
import './task.css';

type PosterProps = { readonly url: string | null; readonly task: TaskRecord };

/** The file of a link that fails may be deleted, and each read signs another one that would fail as well. */
const renewalMs = 60_000;

/** A frame of the video, or an icon of the task's state. Decoration: the words stand beside it. */
export function Poster({ url, task }: PosterProps) {
  // The first link stays until it fails, because each read signs another one and the image would load again.
  const [shown, setShown] = useState({ url, isBroken: false, renewedMs: -Infinity });
  const { isBroken, renewedMs } = shown;
  const isExpired = isBroken && Date.now() - renewedMs > renewalMs;
  if (url !== null && url !== shown.url && (shown.url === null || isExpired)) {
    setShown({ url, isBroken: false, renewedMs: isExpired ? Date.now() : -Infinity });
  }
  const { tone } = taskWord(task);
  const Icon = tone === 'bad' ? CircleAlert : tone === 'good' ? Film : Clapperboard;
  return (
    <span class="poster">
      {shown.url !== null && !isBroken ? (
        <img
          src={shown.url}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => setShown({ ...shown, isBroken: true })}
        />
      ) : (
        <Icon size={16} aria-hidden="true" />
      )}
    </span>
  );
}
