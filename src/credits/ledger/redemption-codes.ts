import { hash, randomInt } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { lockOpenAccount } from '../../accounts/accounts.ts';
import { changeWithAudit } from '../../accounts/operators/audit-log.ts';
import type { Actor } from '../../accounts/operators/actors-and-actions.ts';
import type { Database } from '../../platform/database/database.ts';
import { many, maybeOne, noRows, type StatementRunner } from '../../platform/database/declare-statements.ts';
import { bookCredits, type Booking, findBooking, type LedgerEntry } from './ledger-entries-and-book-credits.ts';

// Codes that operators sell or hand out in batches. Each grants credits once, to the account that redeems it first.

/** Crockford's base32: no letter is mistaken for a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** 16 characters carry 80 bits, which cannot be guessed with a limited number of attempts. */
const codeLength = 16;
export const maxCodesOfBatch = 10_000;

export type CodeBatch = {
  readonly batchId: string;
  readonly name: string;
  readonly credits: number;
  readonly codes: number;
  readonly redeemed: number;
  readonly createdAt: number;
  readonly expiresAt: number | undefined;
  readonly withdrawnAt: number | undefined;
};

export type NewBatch = Pick<CodeBatch, 'name' | 'credits' | 'codes'> & { readonly expiresAt?: number | undefined };

function newCode(): string {
  const text = Array.from({ length: codeLength }, () => alphabet.charAt(randomInt(alphabet.length))).join('');
  return text.replaceAll(/(.{4})(?=.)/g, '$1-');
}

/** The SHA-256 of a code, which people may type in lower case, without dashes, and with letters for digits. */
function hashCode(code: string): Buffer {
  const plain = code.toUpperCase().replaceAll(/[\s-]/g, '').replaceAll('O', '0').replaceAll(/[IL]/g, '1');
  return hash('sha256', plain, 'buffer');
}

const keyPrefix = 'code ';

/** SQL: the hash of the code that a ledger entry's idempotency key names; null for another key. */
export function codeHashOfIdempotencyKeySql(idempotencyKey: string): string {
  return `case when ${idempotencyKey} ~ '^${keyPrefix}[0-9a-f]{64}$'
    then decode(substr(${idempotencyKey}, ${keyPrefix.length + 1}), 'hex') end`;
}

const insertBatch = noRows<[batchId: string, batch: NewBatch, hashes: readonly Buffer[]]>({
  name: 'create-code-batch',
  text: `
with batch as (
  insert into code_batches (id, name, credits, expires_at) values ($1, $2, $3, to_timestamp($4::float8 / 1000))
  returning id
)
insert into redemption_codes (hash, batch_id) select code, id from batch, unnest($5::bytea[]) code`,
  values: (batchId, { name, credits, expiresAt }, hashes) => [batchId, name, credits, expiresAt, hashes],
});

/** Creates a batch and returns its codes, which are stored as hashes only. */
export function createCodesAs(
  db: Database,
  actor: Actor,
  batch: NewBatch,
): Promise<{ readonly batchId: string; readonly codes: readonly string[] }> {
  return changeWithAudit(db, actor, async (transaction) => {
    const codes = Array.from({ length: batch.codes }, newCode);
    const batchId = uuidv7();
    await insertBatch(transaction, batchId, batch, codes.map(hashCode));
    const { name, credits, expiresAt = null } = batch;
    const details = { batchId, name, credits, codes: batch.codes, expiresAt };
    return { answer: { batchId, codes }, done: { action: 'codes.create', details } };
  });
}

const batchColumns = `id as "batchId", name, credits, created_at as "createdAt", expires_at as "expiresAt", withdrawn_at as "withdrawnAt",
  (select count(*)::int from redemption_codes where batch_id = code_batches.id) as codes,
  (select count(*)::int from redemption_codes where batch_id = code_batches.id and redeemed_at is not null) as redeemed`;

export const listCodeBatches = many<CodeBatch, [limit: number]>({
  name: 'list-code-batches',
  text: `select ${batchColumns} from code_batches order by created_at desc, id desc limit $1`,
});

const withdraw = maybeOne<CodeBatch & { readonly changed: boolean }, [batchId: string]>({
  name: 'withdraw-code-batch',
  text: `
with found as (select id, withdrawn_at is null as changed from code_batches where id = $1 for update), changed as (
  update code_batches set withdrawn_at = coalesce(withdrawn_at, now()) from found where code_batches.id = found.id
  returning code_batches.*, found.changed
)
select ${batchColumns.replaceAll('code_batches', 'changed')}, changed from changed`,
});

/** Withdraws the codes of a batch that were not redeemed yet. Returns undefined for an unknown batch. */
export function withdrawCodesAs(
  db: Database,
  actor: Actor,
  { batchId, reason }: { readonly batchId: string; readonly reason: string },
): Promise<CodeBatch | undefined> {
  return changeWithAudit(db, actor, async (transaction) => {
    const answer = await withdraw(transaction, batchId);
    if (answer?.changed !== true) return { answer };
    const { name, codes, redeemed } = answer;
    return { answer, done: { action: 'codes.withdraw', details: { batchId, name, codes, redeemed, reason } } };
  });
}

type Redeemed = { readonly batchName: string; readonly credits: number; readonly isNew: boolean };

// A code that the account has redeemed before is found again, because the response may have been lost.
const takeCode = maybeOne<Redeemed, [code: Buffer, accountId: string]>({
  name: 'take-redemption-code',
  text: `
with code as (
  select hash, redeemed_by, code_batches.* from redemption_codes join code_batches on code_batches.id = batch_id
  where hash = $1 and (redeemed_by = $2 or redeemed_at is null and withdrawn_at is null and (expires_at is null or expires_at > now()))
  for update
), taken as (
  update redemption_codes set redeemed_by = $2, redeemed_at = now() from code
  where redemption_codes.hash = code.hash and redemption_codes.redeemed_at is null
)
select name as "batchName", credits, redeemed_by is null as "isNew" from code`,
});

/** The hash of a code that can be redeemed now; undefined for any other. */
export async function findRedeemableCodeHash(db: StatementRunner, code: string): Promise<Buffer | undefined> {
  return (await selectOpenCode(db, hashCode(code)))?.hash;
}

const selectOpenCode = maybeOne<{ hash: Buffer }, [code: Buffer]>({
  name: 'find-open-code',
  text: `
select hash from redemption_codes join code_batches on code_batches.id = batch_id
where hash = $1 and redeemed_at is null and withdrawn_at is null and (expires_at is null or expires_at > now())`,
});

export type RedemptionOutcome =
  | { readonly kind: 'redeemed'; readonly entry: LedgerEntry; readonly isRepeat: boolean }
  | { readonly kind: 'code_invalid' }
  | { readonly kind: 'balance_out_of_range'; readonly balance: number };

/**
 * Grants the credits of a code, or of the code with this hash, to an account, once: the code's row is locked, and its hash is the
 * idempotency key of the ledger entry. The row of its batch is locked, too, so that the batch is withdrawn before or after, and not in
 * between. A suspended account may redeem; a closed one throws `AccountClosedError`.
 */
export function redeemCode(db: Database, accountId: string, code: string | Buffer): Promise<RedemptionOutcome> {
  return db
    .transaction<RedemptionOutcome>(async (run) => {
      const account = await lockOpenAccount({ run }, accountId);
      if (account === undefined) throw new Error(`account ${accountId} not found`);
      const sha256 = typeof code === 'string' ? hashCode(code) : code;
      const taken = await takeCode({ run }, sha256, accountId);
      if (taken === undefined) return { kind: 'code_invalid' };
      const idempotencyKey = `${keyPrefix}${sha256.toString('hex')}`;
      const reason = `Code of ${taken.batchName}`;
      const booking: Booking = { accountId, kind: 'grant', amount: taken.credits, reason, idempotencyKey };
      const entry = taken.isNew ? await bookCredits({ run }, booking) : await findBooking({ run }, booking);
      if (entry === undefined) throw new BalanceOutOfRangeError(account.balance);
      return { kind: 'redeemed', entry, isRepeat: !taken.isNew };
    })
    .catch((error: unknown) => {
      if (error instanceof BalanceOutOfRangeError) return { kind: 'balance_out_of_range', balance: error.balance };
      throw error;
    });
}

/** Rolls the redemption back, so that the code stays usable. */
class BalanceOutOfRangeError extends Error {
  override readonly name = 'BalanceOutOfRangeError';
  readonly balance: number;

  constructor(balance: number) {
    super('the balance would exceed its maximum');
    this.balance = balance;
  }
}
