import type { z } from 'zod';
import { everyRequest, type Operation } from './endpoint.ts';
import { answerTo, errorDataOf, type HttpError } from './errors.ts';

// Holds the answers of an endpoint against its declaration: an undeclared refusal or shape is our own fault, 500. Runs in tests
// only; it would cost each answer a second look in production, where it could mend nothing.

export function checkAnswer(operation: Operation, data: unknown): void {
  requireShape(operation, operation.data, data);
}

export function checkRefusal(operation: Operation, refusal: HttpError): void {
  const { code, details } = refusal;
  if (code === 'internal') return;
  if (![...everyRequest, ...operation.failures].includes(code)) {
    throw new Error(`${operation.operationId} does not declare ${code}`, { cause: details.cause });
  }
  requireShape(operation, errorDataOf(code), answerTo(refusal).envelope.data);
}

function requireShape({ operationId }: Operation, schema: z.ZodType, data: unknown): void {
  const { error } = schema.safeParse(data);
  if (error !== undefined) throw new Error(`${operationId} answered another shape than it declares`, { cause: error });
}
