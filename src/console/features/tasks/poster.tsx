import { useState } from 'preact/hooks';
import type { TaskRecord } from '../../api/contract.ts';
import { CircleAlert, Clapperboard, Film } from '../../ui/controls/icons.ts';
import { wordAndToneOfTask } from './tasks-text.ts';
import './detail/task.css';

type PosterProps = { readonly url: string | null; readonly task: TaskRecord };

/** A link may have expired, so the next one is tried. If that one fails too, the file was deleted. */
const maxFailures = 2;

/** A frame of the video, or an icon of the task's state. Decoration: the words stand beside it. */
export function Poster({ url, task }: PosterProps) {
  // The first link stays until it fails, because each read signs another one and the image would load again.
  const [shown, setShown] = useState({ url, isBroken: false, failures: 0 });
  const { isBroken, failures } = shown;
  if (url !== null && url !== shown.url && (shown.url === null || (isBroken && failures < maxFailures))) {
    setShown({ url, isBroken: false, failures });
  }
  const { tone } = wordAndToneOfTask(task);
  const Icon = tone === 'bad' ? CircleAlert : tone === 'good' ? Film : Clapperboard;
  return (
    <span class="poster">
      {shown.url !== null && !isBroken ? (
        <img
          src={shown.url}
          alt=""
          loading="lazy"
          decoding="async"
          onLoad={() => setShown({ ...shown, failures: 0 })}
          onError={() => setShown({ ...shown, isBroken: true, failures: failures + 1 })}
        />
      ) : (
        <Icon size={16} aria-hidden="true" />
      )}
    </span>
  );
}
