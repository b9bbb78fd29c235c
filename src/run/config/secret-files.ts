import { readFileSync } from 'node:fs';
import { errorCode, SetupError } from '../../platform/setup-errors-and-error-messages.ts';

/** Key files of service accounts have several lines. */
export function jsonOnOneLine(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The message has no path, which may be a misplaced secret. */
export function secretInFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SetupError(`refers to a file that cannot be read (${errorCode(error) ?? 'unknown'})`);
  }
}
