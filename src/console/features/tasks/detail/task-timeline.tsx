import { Card } from '../../../ui/page-card-facts-and-tiles.tsx';
import { ClockTime, formatDuration } from '../../../ui/times-and-durations.tsx';
import { describeTimelineStep, tasksText, wordAndToneOfTask } from '../tasks-text.ts';
import type { TaskView } from './use-task.ts';

/** Shows the steps by the clock of the service. Events have an instant, spans a length. */
export function TaskTimeline({ view }: { readonly view: TaskView }) {
  return (
    <Card title={tasksText.timeline}>
      <ol class="timeline">
        {view.steps.map((step) => {
          const { startTime, endTime } = step;
          const { text, tone } = wordOf(step, view);
          return (
            <li key={step.step}>
              <span class={`dot ${tone}`} aria-hidden="true" />
              <span>
                <span class="what">{text}</span>
                {endTime !== null && endTime > startTime && (
                  <small class="under">{formatDuration(endTime - startTime)}</small>
                )}
                {step.step === 'succeeded' && <Differences view={view} />}
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

/** Only operators read how a video differs from its order. */
function Differences({ view: { operator } }: { readonly view: TaskView }) {
  return (
    <>
      {operator?.differences.map((difference) => (
        <small key={difference.aspect} class="under">
          {tasksText.difference(difference)}
        </small>
      ))}
    </>
  );
}

function wordOf({ step, endTime }: TaskView['steps'][number], { task, callback }: TaskView) {
  const { now, done, tone } = describeTimelineStep(step);
  if (endTime === null) return { text: now, tone: 'live' };
  if (step === 'failed') {
    const { word, tone: ended } = wordAndToneOfTask(task);
    return { text: word, tone: ended };
  }
  if (step !== 'callback') return { text: done, tone };
  if (callback?.state === 'delivered') return { text: done, tone: 'good' };
  return { text: tasksText.callbackNotDelivered, tone: 'bad' };
}
