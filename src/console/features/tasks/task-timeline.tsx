import type { TaskTimeline } from '../../api/contract.ts';
import type { Tone } from '../../ui/badge.tsx';
import { Card } from '../../ui/page.tsx';
import { ClockTime, duration, useNow } from '../../ui/time.tsx';
import { taskWord } from '../../words.ts';

type Step = TaskTimeline['steps'][number];

type Words = { readonly now: string; readonly done: string; readonly tone: Tone };
const words: Readonly<Record<Exclude<Step['step'], 'failed'>, Words>> = {
  accepted: { now: 'Accepted and charged', done: 'Accepted and charged', tone: 'calm' },
  waited: { now: 'Waiting for a free place', done: 'Waited for a free place', tone: 'calm' },
  generating: { now: 'Generating', done: 'Generated', tone: 'calm' },
  stored: { now: 'Storing the video', done: 'Stored and measured', tone: 'calm' },
  succeeded: { now: 'Succeeded', done: 'Succeeded', tone: 'good' },
  refunded: { now: 'Refunded in full', done: 'Refunded in full', tone: 'good' },
  callback: { now: 'Calling back', done: 'Called back', tone: 'calm' },
};

/** A step that is newer than this page is shown by its name. */
function wordsOfStep(step: string): Words {
  const known: Readonly<Record<string, Words>> = words;
  return known[step] ?? { now: step, done: step, tone: 'calm' };
}

function endWords(task: TaskTimeline['task']): Words {
  const { word, tone } = taskWord(task);
  return { now: word, done: word, tone };
}

/** What happened when, by the clock of the service. Events have an instant, spans a length. */
export function TaskSteps({ timeline: { task, steps, callback } }: { readonly timeline: TaskTimeline }) {
  const now = useNow(1000);
  const wordsOf = (step: string) => (step === 'failed' ? endWords(task) : wordsOfStep(step));
  return (
    <Card title="Timeline">
      <ol class="timeline">
        {steps.map(({ step, startTime, endTime }) => {
          const isOpen = endTime === null;
          const isFailed = step === 'callback' && callback !== null && callback.state !== 'delivered' && !isOpen;
          const lengthMs = (endTime ?? now) - startTime;
          const tone = step === 'callback' && callback?.state === 'delivered' ? 'good' : wordsOf(step).tone;
          return (
            <li key={step}>
              <span class={`dot ${isOpen ? 'live' : isFailed ? 'bad' : tone}`} aria-hidden="true" />
              <span>
                <span class="what">{isFailed ? 'Callback not delivered' : wordsOf(step)[isOpen ? 'now' : 'done']}</span>
                {(isOpen || lengthMs > 0) && <small>{duration(Math.max(0, lengthMs))}</small>}
              </span>
              <span class="when">
                <ClockTime ms={startTime} />
              </span>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
