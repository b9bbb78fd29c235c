import assert from 'node:assert/strict';
import { type Environment, readConfig } from '../../src/run/config/config.ts';
import { type DoctorRole, runDoctorChecks } from '../../src/run/doctor/doctor.ts';
import type { Finding } from '../../src/run/doctor/checks-and-findings.ts';

/** The findings of doctor in this process, by check. */
export async function findingsOf(
  environment: Environment,
  role: DoctorRole = 'all',
): Promise<ReadonlyMap<string, Finding>> {
  const config = readConfig(environment);
  const { databaseUrl, temporal, secret } = config;
  const findings = await runDoctorChecks(config, { databaseUrl, temporal, secret }, role);
  return new Map(findings.map((finding) => [finding.check, finding]));
}

/** One finding of the whole installation, as a person reads it. */
export async function findingLine(check: string, environment: Environment): Promise<string> {
  return lineOf((await findingsOf(environment)).get(check) ?? assert.fail(`${check} is missing`));
}

export function lineOf({ state, message, remedy = '' }: Finding): string {
  return `${state}: ${message} → ${remedy}`;
}
