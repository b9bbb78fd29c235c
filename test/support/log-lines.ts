import { pino } from 'pino';

/** A log whose lines are kept, each with its level, its fields and its message. */
export function recordLog() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: pino({ level: 'debug', base: null, timestamp: false }, { write }) };
}
