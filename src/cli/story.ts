import { intro, log, outro } from '@clack/prompts';
import { wrapAnsi } from 'fast-wrap-ansi';
import type { Client, TaskRecord } from '../../clients/typescript/src/index.ts';

export type Story = ReturnType<typeof createStory>;

/** The width of the lines' own mark and the space behind it. */
const markColumns = 3;

/** The output of a command for a person while it works. With `--json` it is silent, and only warnings are written, to standard error. */
export function createStory(asJson: boolean) {
  let clear = () => {};
  const telling = (tell: (text: string) => void) => (text: string) => {
    if (asJson) return;
    clear();
    tell(wrapped(text));
  };
  return {
    begin: telling((title) => intro(title)),
    step: telling((text) => log.step(text)),
    success: telling((text) => log.success(text)),
    info: telling((text) => log.info(text)),
    warn: asJson ? (text: string) => void process.stderr.write(`${text}\n`) : telling((text) => log.warn(text)),
    message: telling((text) => log.message(text)),
    end: telling((text) => outro(text)),
    /** Waits for the end of a task, and shows its progress in the place of the next line. */
    waitFor: async (client: Client, taskId: string, signal: AbortSignal): Promise<TaskRecord> => {
      if (asJson) return client.waitForTask(taskId, { signal });
      const bar = process.stdout.isTTY ? barOnTerminal() : plainLines();
      clear = bar.clear;
      // A command that is broken off must not be kept alive by its bar.
      const timer = setInterval(bar.draw, redrawMs).unref();
      const onRecord = (record: TaskRecord) => bar.show(record);
      return client.waitForTask(taskId, { onRecord, signal }).finally(() => {
        clearInterval(timer);
        clear();
        clear = () => {};
      });
    },
  };
}

/** On a terminal lines end between words; what has no space, such as an address, stays whole. */
function wrapped(text: string): string {
  if (!process.stdout.isTTY) return text;
  return wrapAnsi(text, Math.max(20, process.stdout.columns - markColumns));
}

type Bar = { readonly show: (record: TaskRecord) => void; readonly draw: () => void; readonly clear: () => void };

const redrawMs = 200;
const barColumns = 40;
const eraseLine = '\r\u001B[K';
/** The bar's line, and the mark above it. */
const eraseBar = `${eraseLine}\u001B[1A${eraseLine}`;

/** It reads no keys, so Ctrl-C stays a signal, which the command answers; a bar that reads them would end the process itself. */
function barOnTerminal(): Bar {
  const startedAt = Date.now();
  let [percent, state, isDrawn] = [0, 'waiting', false];
  const draw = () => {
    if (!isDrawn) process.stdout.write('│\n');
    isDrawn = true;
    const seconds = Math.floor((Date.now() - startedAt) / 1000);
    const figures = `${String(percent).padStart(3)} %  ${state}, ${seconds} s`;
    const columns = Math.max(0, Math.min(barColumns, process.stdout.columns - markColumns - figures.length - 3));
    const full = Math.round((percent / 100) * columns);
    process.stdout.write(`${eraseLine}│  ${'━'.repeat(full)}${'─'.repeat(columns - full)} ${figures}`);
  };
  const clear = () => {
    if (isDrawn) process.stdout.write(eraseBar);
    isDrawn = false;
  };
  const show = (record: TaskRecord) => {
    percent = Math.max(percent, Math.floor(record.progress));
    state = record.state;
    draw();
  };
  return { show, draw, clear };
}

/** A line for each new state and quarter. */
function plainLines(): Bar {
  let last = '';
  const show = ({ state, progress: percent }: TaskRecord) => {
    const line = `${state} ${Math.floor(percent / 25) * 25} %`;
    if (line !== last) log.step(line);
    last = line;
  };
  return { show, draw: () => {}, clear: () => {} };
}
