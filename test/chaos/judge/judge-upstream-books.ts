import type { BookedJob } from '../../fakes/upstream-books.ts';
import { kinds } from '../../fakes/provider-kinds.ts';
import type { Evidence, FinalTask } from './evidence.ts';

// The rules for the jobs at upstreams of every kind, by their own books.

type Seen = Pick<Evidence, 'tasks' | 'kindJobs' | 'unsettledJobs'>;

/** Returns a sentence for each violation. */
export function judgeKinds({ tasks, kindJobs, unsettledJobs }: Seen): readonly string[] {
  const taskOf = new Map(tasks.map((task) => [task.nonce, task]));
  const verdicts = [...kindJobs].flatMap(([name, jobs]) => {
    const nonces = [...new Set(jobs.map(nonceOf))];
    return nonces.flatMap((nonce) =>
      judgeJobs(
        name,
        taskOf.get(nonce),
        jobs.filter((job) => nonceOf(job) === nonce),
      ),
    );
  });
  const successes = tasks.filter(({ state, model }) => state === 'success' && kindJobs.has(model));
  const unmade = successes.filter(({ model, nonce }) => !wasMade(kindJobs.get(model) ?? [], nonce));
  return [
    ...verdicts,
    ...unmade.map(({ taskId, model }) => `task ${taskId} succeeded, and ${model} has made no video for it`),
    ...(unsettledJobs === 0 ? [] : [`${unsettledJobs} jobs of failed tasks are not settled in our books`]),
  ];
}

function nonceOf({ prompt }: BookedJob): string {
  return prompt.split(' ')[0] ?? '';
}

function wasMade(jobs: readonly BookedJob[], nonce: string): boolean {
  return jobs.some((job) => nonceOf(job) === nonce && job.state === 'succeeded');
}

function judgeJobs(name: string, task: FinalTask | undefined, made: readonly BookedJob[]): readonly string[] {
  const [first] = made;
  if (first === undefined) return [];
  if (task === undefined) return [`${name} made job ${first.id} for no task`];
  const told = made.map(({ id, state }) => `${id} ${state}`).join(', ');
  const running = made.filter(({ state }) => state === 'running');
  return [
    ...(running.length === 0 ? [] : [`${name} still runs jobs of task ${task.taskId}: ${told}`]),
    ...(isPaidOnce(name, made) ? [] : [`task ${task.taskId} was made more than once by ${name}: ${told}`]),
  ];
}

/** A model on a machine of ours may run again, when its server has died with the job; all others make one job for a task. */
function isPaidOnce(name: string, made: readonly BookedJob[]): boolean {
  const { repeats = false, endsAlone = false } = kinds.get(name) ?? {};
  if (!repeats) return made.length === 1;
  return endsAlone || made.slice(0, -1).every(({ state }) => state !== 'succeeded');
}
