import { intro, log, outro } from '@clack/prompts';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Client, TaskRecord } from '../../../../clients/typescript/src/index.ts';

export type ProgressPrinter = ReturnType<typeof createProgressPrinter>;

/** The width of the mark before each line. */
const markColumns = 3;

/** Prints the progress of a command. With `--json` only warnings are printed, to standard error. */
export function createProgressPrinter(asJson: boolean) {
  let status: Status | undefined;
  const printer = (print: (text: string) => void) => (text: string) => {
    if (asJson) return;
    status?.clear();
    print(wrapped(text));
  };
  return {
    begin: printer((title) => intro(title)),
    step: printer((text) => log.step(text)),
    success: printer((text) => log.success(text)),
    info: printer((text) => log.info(text)),
    warn: asJson ? (text: string) => void process.stderr.write(`${text}\n`) : printer((text) => log.warn(text)),
    message: printer((text) => log.message(text)),
    end: printer((text) => outro(text)),
    /** Waits for the end of a task, and shows its progress. */
    waitFor: async (client: Client, taskId: string, signal: AbortSignal): Promise<TaskRecord> => {
      if (asJson) return client.waitForTask(taskId, { signal });
      const shown = (status = process.stdout.isTTY ? statusLine() : plainLines());
      const onRecord = (record: TaskRecord) => shown.show(record);
      return client.waitForTask(taskId, { onRecord, signal }).finally(() => {
        shown.clear();
        status = undefined;
      });
    },
  };
}

/** On a terminal, lines end between words; a long word, such as an address, stays whole. */
function wrapped(text: string): string {
  if (!process.stdout.isTTY) return text;
  return wrapAnsi(text, Math.max(20, process.stdout.columns - markColumns));
}

type Status = { readonly show: (record: TaskRecord) => void; readonly clear: () => void };

const eraseLine = '\r\u001B[K';

/** Rewrites one line. It reads no keys, unlike the progress bars of libraries, so Ctrl-C stays a signal. */
function statusLine(): Status {
  const startedAt = Date.now();
  let percent = 0;
  return {
    show: ({ progress, state }) => {
      percent = Math.max(percent, Math.floor(progress));
      const seconds = Math.floor((Date.now() - startedAt) / 1000);
      process.stdout.write(`${eraseLine}│  ${percent} %  ${state}, ${seconds} s`);
    },
    clear: () => void process.stdout.write(eraseLine),
  };
}

/** Prints a line for each new state and quarter. */
function plainLines(): Status {
  let last = '';
  const show = ({ state, progress: percent }: TaskRecord) => {
    const line = `${state} ${Math.floor(percent / 25) * 25} %`;
    if (line !== last) log.step(line);
    last = line;
  };
  return { show, clear: () => {} };
}
