import type { z } from 'zod';
import { failureAnswer, failureOf } from '../failure-of.ts';
import { failureData } from '../failure-data.ts';
import type { HttpFailure } from '../http-failure.ts';
import { everyRequest, type Operation } from '../operation.ts';
import type { Step } from '../request-state.ts';
import { translationOf } from '../translation.ts';

/**
 * Holds every answer of an endpoint against what it declares: an undeclared refusal or shape is our own fault, 500. Runs
 * in tests only; it would cost each answer a second look in production, where it could mend nothing.
 */
export function checkAnswers(operation: Operation, isOn: boolean | undefined): Step {
  if (isOn !== true) return (_ctx, next) => next();
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      requireDeclared(operation, failureOf(error));
      throw error;
    }
    if (ctx.respond === false) return;
    if (ctx.status !== 200) throw new Error(`${operation.operationId} answered ${ctx.status}`);
    const envelope: unknown = typeof ctx.body === 'string' ? JSON.parse(ctx.body) : undefined;
    const data = typeof envelope === 'object' && envelope !== null && 'data' in envelope ? envelope.data : undefined;
    const inDialect = translationOf(ctx.state.dialect ?? 'native').answers[operation.operationId];
    requireShape(operation, inDialect ?? operation.data, data);
  };
}

function requireDeclared(operation: Operation, refusal: HttpFailure): void {
  const { failure, details } = refusal;
  if (failure === 'internal') return;
  if (![...everyRequest, ...operation.failures].includes(failure)) {
    throw new Error(`${operation.operationId} does not declare ${failure}`, { cause: details.cause });
  }
  requireShape(operation, failureData(failure), failureAnswer(refusal).envelope.data);
}

function requireShape({ operationId }: Operation, schema: z.ZodType, data: unknown): void {
  const { error } = schema.safeParse(data);
  if (error !== undefined) throw new Error(`${operationId} answered another shape than it declares`, { cause: error });
}
