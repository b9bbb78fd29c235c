import { log, progress } from '@clack/prompts';
import type { TaskRecord } from '../../clients/typescript/src/index.ts';

export type TaskProgressBar = { show(record: TaskRecord): void; done(message: string): void };

/** Live progress of one task: a bar on a terminal, a line for each new state and quarter elsewhere. */
export function taskProgressBar(): TaskProgressBar {
  return process.stdout.isTTY ? barOnTerminal() : plainLines();
}

function barOnTerminal(): TaskProgressBar {
  const bar = progress({ max: 100, size: 40 });
  let shown = 0;
  bar.start('waiting');
  return {
    show: (record) => {
      bar.advance(Math.max(0, record.progress - shown), record.state);
      shown = Math.max(shown, record.progress);
    },
    done: (message) => bar.stop(message),
  };
}

function plainLines(): TaskProgressBar {
  let last = '';
  return {
    show: ({ state, progress: percent }) => {
      const line = `${state} ${Math.floor(percent / 25) * 25} %`;
      if (line !== last) log.step(line);
      last = line;
    },
    done: (message) => log.success(message),
  };
}
