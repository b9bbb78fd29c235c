import { diskProblemOfCode } from '../../platform/process/disk.ts';
import { errorCode, isSystemError } from '../../platform/setup-errors-and-error-messages.ts';
import { PasswordsBusyError } from '../../accounts/sign-in/passwords.ts';
import { AccountClosedError } from '../../accounts/accounts.ts';
import { DatabaseUnavailableError, DatabaseBusyError } from '../../platform/database/database.ts';
import { SignInProofOutdatedError } from '../../accounts/sign-in/sign-in.ts';
import { PaymentsUnavailableError } from '../../credits/payments/payment-provider.ts';
import { TooManyTagsError } from '../../library/gallery/favorites-and-tags.ts';
import { StoreUnavailableError } from '../../media/store/result-store.ts';
import type { ErrorCode } from './error-catalogue.ts';
import { HttpError } from './http-error.ts';

/** Returns the error that a client reads for an error of ours. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  if (error instanceof PasswordsBusyError) return new HttpError('too_many_sign_ins');
  if (error instanceof SignInProofOutdatedError)
    return new HttpError('sign_in_failed', { msg: 'this sign-in is no longer valid; sign in again' });
  if (error instanceof AccountClosedError) return new HttpError('account_closed', { msg: error.message });
  if (error instanceof TooManyTagsError) {
    return new HttpError('too_many_tags', { msg: error.message, data: { limit: error.limit } });
  }
  if (error instanceof DatabaseBusyError) return new HttpError('database_busy');
  if (error instanceof DatabaseUnavailableError) return databaseError(error);
  if (error instanceof PaymentsUnavailableError) return new HttpError('payments_unavailable', { cause: error });
  if (error instanceof StoreUnavailableError) return new HttpError('media_unavailable', { cause: error });
  return new HttpError(isOfDisk(error) ? 'disk_full' : 'internal', { cause: error });
}

function databaseError({ reason, cause }: DatabaseUnavailableError): HttpError {
  if (reason === 'disk_full') return new HttpError('disk_full', { cause });
  const msg = 'the database is read-only; nothing was charged';
  return new HttpError('database_unavailable', { cause, ...(reason === 'read_only' && { msg }) });
}

function isOfDisk(error: unknown): boolean {
  return isSystemError(error) && diskProblemOfCode(errorCode(error)) !== undefined;
}

const maybeOfDisk: readonly ErrorCode[] = ['database_unavailable', 'media_unavailable', 'internal'];

/** Names the full disk instead of what it has broken, such as the embedded database. */
export function replaceIfDiskIsFull(error: HttpError, diskProblem: string | undefined): HttpError {
  const isOurs = error.code !== 'internal' || isOfDisk(error.cause);
  if (diskProblem === undefined || !maybeOfDisk.includes(error.code) || !isOurs) return error;
  return new HttpError('disk_full', { cause: error.cause });
}

/** True if the request was refused; false for our own errors and outages. */
export function isRefusal(error: unknown): boolean {
  return toHttpError(error).envelope.code < 500;
}
