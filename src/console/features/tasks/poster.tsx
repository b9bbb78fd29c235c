import { CircleAlert, Film } from '../../ui/icons.ts';
import { Clapperboard } from './icons.ts';
import { useState } from 'preact/hooks';
import type { TaskRecord } from '../../api/contract.ts';
import { taskWord } from '../../words.ts';
import '../../features/tasks/task.css';

/** A frame of the film, or a sign of what became of it. Says nothing of its own: it stands beside words. */
export function Poster({ url, task }: { readonly url: string | null | undefined; readonly task: TaskRecord }) {
  // The first link is kept, for each reading signs another one and the picture would be loaded again.
  const [shown, setShown] = useState(url);
  const [isBroken, setBroken] = useState(false);
  if ((shown ?? null) === null && (url ?? null) !== null) setShown(url);
  const { tone } = taskWord(task);
  const Icon = tone === 'bad' ? CircleAlert : tone === 'good' ? Film : Clapperboard;
  return (
    <span class="poster">
      {typeof shown === 'string' && !isBroken ? (
        <img src={shown} alt="" loading="lazy" decoding="async" onError={() => setBroken(true)} />
      ) : (
        <Icon size={16} aria-hidden="true" />
      )}
    </span>
  );
}
