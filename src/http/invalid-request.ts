import { describeFieldError, type FieldError, firstOfEachPath } from '../domain/field-errors.ts';
import { HttpFailure } from './http-failure.ts';

/** 422 with every fault at once; the first one is the message, and a hint follows it. */
export function invalidRequest(errors: readonly FieldError[], hint?: string): HttpFailure {
  const [first] = errors;
  return new HttpFailure('invalid_request', {
    ...(first !== undefined && { msg: [describeFieldError(first), hint].filter(Boolean).join('; ') }),
    data: { errors: firstOfEachPath(errors) },
  });
}
