import { useState } from 'preact/hooks';
import type { TaskRecord } from '../../api/contract.ts';
import { CircleAlert, Clapperboard, Film } from '../../ui/icons.ts';
import { taskWord } from './tasks-text.ts';
import './task.css';

type PosterProps = { readonly url: string | null; readonly task: TaskRecord };

/** A frame of the video, or an icon of the task's state. Decoration: the words stand beside it. */
export function Poster({ url, task }: PosterProps) {
  // The first link stays, because each read signs another one and the image would load again.
  const [shown, setShown] = useState(url);
  const [isBroken, setBroken] = useState(false);
  if (shown === null && url !== null) setShown(url);
  const { tone } = taskWord(task);
  const Icon = tone === 'bad' ? CircleAlert : tone === 'good' ? Film : Clapperboard;
  return (
    <span class="poster">
      {shown !== null && !isBroken ? (
        <img src={shown} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />
      ) : (
        <Icon size={16} aria-hidden="true" />
      )}
    </span>
  );
}
