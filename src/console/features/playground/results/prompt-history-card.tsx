import { deletedPrompt } from '../../../../tasks/end/content-placeholders.ts';
import { useRead } from '../../../api/read-and-send-hooks.ts';
import type { ListedTask, Model } from '../../../api/contract.ts';
import { Card } from '../../../ui/page-card-facts-and-tiles.tsx';
import { Skeleton } from '../../../ui/feedback/skeleton.tsx';
import { Time } from '../../../ui/times-and-durations.tsx';
import { Poster } from '../../tasks/poster.tsx';
import { isLive } from '../../tasks/detail/use-task.ts';
import { playgroundText } from '../playground-text.ts';

type HistoryProps = { readonly models: readonly Model[]; readonly onChosen: (task: ListedTask) => void };

/** The tasks that are searched for prompts, and the prompts that are shown. */
const readTasks = 50;
const maxPrompts = 20;

/** The latest prompts of the account, each with its latest video. A click fills the form with that task's input. */
export function PromptHistoryCard({ models, onChosen }: HistoryProps) {
  const { data, error } = useRead(
    '/api/v1/jobs/listTasks',
    { limit: readTasks },
    // Posters of running tasks follow.
    { everyMs: (page) => (page?.tasks.some(isLive) === true ? 5000 : false) },
  );
  // The page has nothing to say about a list that is a shortcut only.
  if (error !== null && data === undefined) return null;
  const tasks = data === undefined ? undefined : latestByPrompt(data.tasks);
  return (
    <Card title={playgroundText.history} isFlush>
      {tasks === undefined ? (
        <Skeleton height="160px" />
      ) : tasks.length === 0 ? (
        <p class="card-note">{playgroundText.historyEmpty}</p>
      ) : (
        <>
          <p class="card-note">{playgroundText.historyHint}</p>
          <ul class="history">
            {tasks.map((task) => (
              <li key={task.taskId}>
                <button type="button" onClick={() => onChosen(task)}>
                  <Poster url={task.posterUrl} task={task} />
                  <span>
                    <span class="prompt" dir="auto">
                      {task.param.input.prompt}
                    </span>
                    <small class="soft">
                      {playgroundText.historyItem(titleOf(task, models), task.param.input.duration)} ·{' '}
                      <Time ms={task.createTime} />
                    </small>
                  </span>
                </button>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

/** Variants of one prompt are one entry. Tasks whose content was deleted have no prompt. */
function latestByPrompt(tasks: readonly ListedTask[]): readonly ListedTask[] {
  const byPrompt = new Map<string, ListedTask>();
  for (const task of tasks) {
    const { prompt } = task.param.input;
    if (!['', deletedPrompt].includes(prompt) && !byPrompt.has(prompt)) byPrompt.set(prompt, task);
  }
  return [...byPrompt.values()].slice(0, maxPrompts);
}

function titleOf({ model }: ListedTask, models: readonly Model[]): string {
  return models.find((one) => one.model === model)?.title ?? model;
}
