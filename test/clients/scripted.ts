import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { VideogenError } from '../../clients/typescript/src/index.ts';
import { type ScriptedService, startScriptedService, type Step } from '../support/service/scripted-service.ts';
import { untilTurn } from '../support/until-turn.ts';

/** The limit of a call, by mocked timers. */
export const limitMs = 1_000;

/** Returns a function that starts a service with a script. The services are closed when the file that calls this ends. */
export function scriptedServices() {
  const services: ScriptedService[] = [];
  after(async () => {
    for (const service of services) await service.close();
  });
  return async (...script: readonly Step[]) => {
    const service = await startScriptedService(...script);
    services.push(service);
    return service;
  };
}

/** The error of a call that must fail. */
export async function errorOf(call: Promise<unknown>): Promise<VideogenError> {
  const outcome = await call.then(
    (value) => assert.fail(`it answered ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  assert.ok(outcome instanceof VideogenError, String(outcome));
  return outcome;
}

/** The error of a call whose limit passes: with mocked timers, time passes in each turn of the event loop. */
export async function lateErrorOf(t: TestContext, call: Promise<unknown>): Promise<VideogenError> {
  let isOver = false;
  const error = errorOf(call).finally(() => (isOver = true));
  await untilTurn('the limit', () => {
    t.mock.timers.tick(limitMs);
    return isOver;
  });
  return error;
}
