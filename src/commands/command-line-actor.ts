import { userInfo } from 'node:os';
import type { Actor } from '../domain/operator.ts';

/** Whoever runs the command, for the audit log: the user of this machine, or the number of one without a name. */
export function commandLineActor(): Actor {
  return { kind: 'command_line', name: userName() };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // In a container the user may have a number and no entry in /etc/passwd.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
