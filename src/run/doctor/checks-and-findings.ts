import pTimeout from 'p-timeout';
import { messageOf } from '../../platform/setup-errors-and-error-messages.ts';

export type FindingState = 'ok' | 'warning' | 'error' | 'unknown';

/** The result of one check; `remedy` is how to correct a problem. */
export type Finding = {
  readonly check: string;
  readonly state: FindingState;
  readonly message: string;
  readonly remedy?: string;
};

export type Check = {
  readonly name: string;
  /** `signal` aborts at the time limit. */
  readonly run: (signal: AbortSignal) => Promise<readonly Finding[]>;
};

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message };
}

export function warning(check: string, message: string, remedy: string): Finding {
  return { check, state: 'warning', message, remedy };
}

export function failure(check: string, message: string, remedy: string): Finding {
  return { check, state: 'error', message, remedy };
}

/** The check could not run. */
export function unchecked(check: string, message: string, remedy?: string): Finding {
  return { check, state: 'unknown', message, ...(remedy !== undefined && { remedy }) };
}

export async function runChecks(checks: readonly Check[], limitMs: number): Promise<readonly Finding[]> {
  const found = checks.map(async ({ name, run }) => {
    const over = new AbortController();
    try {
      return await pTimeout(run(over.signal), { milliseconds: limitMs });
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      const shown = isLate ? `no answer within ${limitMs / 1000} s` : messageOf(error);
      return [
        failure(
          name,
          shown,
          isLate ? 'Check firewalls, and whether the host is up.' : 'Correct what the message names.',
        ),
      ];
    } finally {
      over.abort();
    }
  });
  return (await Promise.all(found)).flat();
}

/** Replaces every secret, because errors may quote them. */
export function redactSecretsInFindings(
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
