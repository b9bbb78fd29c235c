import pTimeout from 'p-timeout';
import { messageOf } from '../../domain/errors.ts';

export type FindingState = 'ok' | 'warning' | 'fault' | 'unknown';

/** What was found about one thing: in which state it is, and how what is wrong is mended. */
export type Finding = {
  readonly check: string;
  readonly state: FindingState;
  readonly message: string;
  readonly remedy?: string;
};

export type Check = {
  readonly name: string;
  /** `signal` is aborted when its time is over. */
  readonly run: (signal: AbortSignal) => Promise<readonly Finding[]>;
};

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy };
}

export function fault(check: string, message: string, remedy: string): Finding {
  return { check, state: 'fault', message, remedy };
}

/** For what could not be looked at; it is no fault by itself. */
export function unknown(check: string, message: string, remedy?: string): Finding {
  return { check, state: 'unknown', message, ...(remedy !== undefined && { remedy }) };
}

/** Runs all checks beside each other, each for `limitMs` at most: a host that swallows packets holds up nothing else. */
export async function runChecks(checks: readonly Check[], limitMs: number): Promise<readonly Finding[]> {
  const found = checks.map(async ({ name, run }) => {
    const over = new AbortController();
    try {
      return await pTimeout(run(over.signal), { milliseconds: limitMs });
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      const said = isLate ? `no answer within ${limitMs / 1000} s` : messageOf(error);
      return [
        fault(name, said, isLate ? 'Look for a firewall, or a host that is down.' : 'Correct what the message names.'),
      ];
    } finally {
      over.abort();
    }
  });
  return (await Promise.all(found)).flat();
}

/** Takes every secret out of what will be shown, wherever an error may have carried it. */
export function withoutSecrets(
  findings: readonly Finding[],
  secrets: readonly (string | undefined)[],
): readonly Finding[] {
  const known = secrets.filter((secret): secret is string => secret !== undefined && secret.length > 3);
  const clean = (text: string) => known.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text);
  return findings.map(({ message, remedy, ...finding }) => ({
    ...finding,
    message: clean(message),
    ...(remedy !== undefined && { remedy: clean(remedy) }),
  }));
}
