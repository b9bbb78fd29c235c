import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Config } from '../../config/config.ts';
import {
  type Dialect,
  dialects,
  ordinaryScopes,
  type Scope,
  scopes,
} from '../../../accounts/keys/scopes-dialects-and-caller.ts';
import { maxSecretOverlapSeconds } from '../../../tasks/callbacks/signing-secret-rows.ts';
import { defaultSecretOverlapSeconds } from '../../../tasks/callbacks/signing-secret-rows.ts';
import { readOrCreateSecret } from '../../embedded/data-folder-lock-and-files.ts';
import type { SecretPurpose } from '../../../tasks/callbacks/signing-secret-rows.ts';
import { ensureSigningSecrets, resealSecrets, rotateSecret } from '../../../tasks/callbacks/signing-secrets.ts';
import { keepPreviousSecretMs } from '../../../media/store/signed-link.ts';
import { dayMs } from '../../../platform/timing/milliseconds-per-unit.ts';
import { createSecretBox, type SecretBox } from '../../../platform/secrets/secret-box.ts';
import { AccountClosedError } from '../../../accounts/accounts.ts';
import { createKeyAs, maxActiveKeys } from '../../../accounts/keys/keys.ts';
import { changeWithAudit } from '../../../accounts/operators/audit-log.ts';
import {
  createOperator,
  type ListedOperator,
  listOperators,
  revokeOperator,
} from '../../../accounts/operators/operator-keys.ts';
import { unknownModelRefusal } from '../../../catalogue/models/model-type-and-name-lookup.ts';
import { accountNotFoundError } from '../account-by-name.ts';
import { addCommand } from '../add-command.ts';
import {
  accountOption,
  parseFutureInstantMs,
  parseId,
  maxNameLength,
  textParser,
  wholeNumberParser,
} from '../arguments.ts';
import {
  type CommandAnswer,
  CommandError,
  listAnswer,
  notFoundError,
  usageError,
} from '../command-output-and-errors.ts';
import {
  commandLineActor,
  type DatabaseAndConfig,
  requireAccount,
  type RunOnDatabase,
} from '../database-and-temporal-for-commands.ts';

type CapOptions = { capDay?: number; capMonth?: number; capTotal?: number };
type KeyOptions = CapOptions & {
  account: string;
  name: string;
  scopes: Scope[];
  dialect: Dialect;
  models?: string[];
  mergeRepeats?: boolean;
  expires?: number;
};

const expiry = ['--expires <when>', 'expiry: a time, or a span such as 90d', parseFutureInstantMs] as const;

export function addKeyCommands(program: Command, run: RunOnDatabase): void {
  const key = addCommand(program, 'key').description('create API keys');
  addCommand(
    key,
    'create',
    '--account studio',
    '--account studio --name ci --expires 90d',
    '--account studio --name batch --cap-day 2000 --models videogen-2.0-fast',
  )
    .description('create a key; it is shown once and stored as a hash')
    .requiredOption(...accountOption)
    .option('--name <name>', 'purpose of the key', textParser(maxNameLength), 'default')
    .option('--scopes <list>', `some of ${scopes.join(',')}`, scopeList, [...ordinaryScopes])
    .option(...expiry)
    .option('--cap-day <credits>', 'what it may spend per day (UTC)', wholeNumberParser(0))
    .option('--cap-month <credits>', 'what it may spend per month (UTC)', wholeNumberParser(0))
    .option('--cap-total <credits>', 'what it may spend in total', wholeNumberParser(0))
    .option('--models <list>', 'the models that it may use; all by default', modelList)
    .option('--merge-repeats', 'make identical creates within a minute one task, unless they have an Idempotency-Key')
    .addOption(new Option('--dialect <dialect>', 'API dialect of its clients').choices(dialects).default('native'))
    .action(run(createKey));
}

async function createKey(
  { db, config }: DatabaseAndConfig,
  { account: accountId, expires: expiresAt, capDay, capMonth, capTotal, ...named }: KeyOptions,
): Promise<CommandAnswer> {
  for (const model of named.models ?? []) {
    const problem = unknownModelRefusal(config.catalogue.models, model);
    if (problem !== undefined) throw usageError(`--models: ${model}: ${problem}`);
  }
  const caps = { day: capDay, month: capMonth, total: capTotal };
  const hasCaps = Object.values(caps).some((credits) => credits !== undefined);
  const rest = { ...named, ...(hasCaps && { caps }) };
  const created = await createKeyAs(db, commandLineActor(), { accountId, expiresAt, ...rest });
  if (created === undefined) throw accountNotFoundError(accountId);
  if (created.kind === 'too_many_keys')
    throw new CommandError(`the account has ${maxActiveKeys} active keys; revoke one first`);
  return shownOnce({ keyId: created.apiKey.keyId, key: created.key });
}

function shownOnce(created: { readonly keyId?: string; readonly key: string }): CommandAnswer {
  return { json: created, lines: [created.key, 'Store it now: it is not shown again.'] };
}

function scopeList(text: string): Scope[] {
  return text.split(',').map((name) => {
    const scope = scopes.find((known) => known === name.trim());
    if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${scopes.join(', ')}.`);
    return scope;
  });
}

function modelList(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

export function addOperatorKeyCommands(program: Command, run: RunOnDatabase): void {
  const operator = addCommand(program, 'operator').description('create, list and revoke the keys of operators');
  addCommand(operator, 'create', '"Ada Lovelace" --expires 90d')
    .description("create an operator's key for /api/admin/v1; it is shown once and stored as a hash")
    .argument('<name>', `name of the operator, 1 to ${maxNameLength} characters`, textParser(maxNameLength))
    .option(...expiry)
    .action(run(createOperatorKey));
  addCommand(operator, 'list', '--json')
    .description('list operators, without their keys')
    .action(
      run(async ({ db }) => listAnswer('operators', (await listOperators(db)).map(presentOperator), operatorColumns)),
    );
  addCommand(operator, 'revoke', '019abc78-9abc-7def-8901-234567890abc')
    .description("revoke an operator's key immediately")
    .argument('<operator>', 'operator id', parseId)
    .action(run(revokeOperatorKey));
}

async function createOperatorKey(
  { db }: DatabaseAndConfig,
  name: string,
  { expires: expiresAt }: { expires?: number },
): Promise<CommandAnswer> {
  const created = await changeWithAudit(db, commandLineActor(), async (transaction) => {
    const answer = await createOperator(transaction, { name, expiresAt });
    const details = { operatorId: answer.operatorId, name, expiresAt: expiresAt ?? null };
    return { answer, done: { action: 'operators.create', details } };
  });
  return shownOnce(created);
}

async function revokeOperatorKey({ db }: DatabaseAndConfig, operatorId: string): Promise<CommandAnswer> {
  const revoked = await changeWithAudit(db, commandLineActor(), async (transaction) => {
    const answer = await revokeOperator(transaction, operatorId);
    if (answer?.changed !== true) return { answer };
    return { answer, done: { action: 'operators.revoke', details: { operatorId } } };
  });
  if (revoked === undefined) throw notFoundError('operator', operatorId);
  return { json: { operatorId, revoked: true }, lines: [`Operator ${operatorId} is revoked.`] };
}

/** Times have the names of the API. */
function presentOperator({ createdAt, expiresAt, revokedAt, ...rest }: ListedOperator) {
  return { ...rest, createTime: createdAt, expireTime: expiresAt ?? null, revokeTime: revokedAt ?? null };
}

const operatorColumns = {
  header: ['OPERATOR', 'HINT', 'STATE', 'NAME'],
  cells: ({ operatorId, hint, name, expireTime, revokeTime }: ReturnType<typeof presentOperator>) => {
    const isExpired = expireTime !== null && expireTime < Date.now();
    return [operatorId, hint, revokeTime !== null ? 'revoked' : isExpired ? 'expired' : 'active', name];
  },
};

export function addCallbackSecretCommands(program: Command, run: RunOnDatabase): void {
  const secret = addCommand(program, 'callback-secret').description(
    "manage the secrets that sign an account's callbacks and events",
  );
  addCommand(secret, 'show', '--account studio', '--account studio --events')
    .description('show the secret')
    .requiredOption(...accountOption)
    .option('--events', 'the secret that signs events')
    .action(run(showSecret));
  addCommand(secret, 'rotate', '--account studio --overlap 86400')
    .description('create a new secret; both sign during the overlap')
    .requiredOption(...accountOption)
    .option('--events', 'the secret that signs events')
    .option(
      '--overlap <seconds>',
      'duration of the overlap',
      wholeNumberParser(0, maxSecretOverlapSeconds),
      defaultSecretOverlapSeconds,
    )
    .action(run(rotateCallbackSecret));
}

type SecretOptions = { readonly account: string; readonly events?: true };
const purposeOf = ({ events }: Pick<SecretOptions, 'events'>): SecretPurpose =>
  events === true ? 'event' : 'callback';

async function showSecret({ db, config }: DatabaseAndConfig, options: SecretOptions): Promise<CommandAnswer> {
  const accountId = options.account;
  const account = await requireAccount(db, accountId);
  // Closing an account deletes its secrets, and reading them creates a missing one.
  if (account.closedAt !== undefined) throw new AccountClosedError(accountId);
  const [secret = ''] = await ensureSigningSecrets(db, await secretBox(config), accountId, purposeOf(options));
  return { json: { secret }, lines: [secret] };
}

async function rotateCallbackSecret(
  { db, config }: DatabaseAndConfig,
  options: SecretOptions & { overlap: number },
): Promise<CommandAnswer> {
  const accountId = options.account;
  await requireAccount(db, accountId);
  const [box, overlapSeconds, purpose] = [await secretBox(config), options.overlap, purposeOf(options)];
  const action = purpose === 'event' ? 'event_secret.rotate' : 'callback_secret.rotate';
  const secret = await changeWithAudit(db, commandLineActor(), async (transaction) => {
    const answer = await rotateSecret(transaction, box, { accountId, overlapSeconds, purpose });
    return { answer, done: { action, accountId, details: { overlapSeconds } } };
  });
  return { json: { secret, overlapSeconds }, lines: [secret] };
}

export function addReencryptSecretsCommand(program: Command, run: RunOnDatabase): void {
  const secret = addCommand(program, 'secret').description('manage VIDEOGEN_SECRET');
  addCommand(secret, 'reencrypt', '', '--json')
    .description(
      'encrypt stored secrets with VIDEOGEN_SECRET; safe to repeat, while the service runs; exit code 1 if some cannot be read',
    )
    .action(run(reencrypt));
}

/** Links that are valid for longer than the callback secrets need the previous secret, too. */
const previousSecretHint = `VIDEOGEN_SECRET_PREVIOUS can be removed in ${keepPreviousSecretMs / dayMs} days, when the links that it signed have expired.`;

async function reencrypt({ db, config }: DatabaseAndConfig): Promise<CommandAnswer> {
  const { current, moved, unopened } = await resealSecrets(db, await secretBox(config));
  const accounts = [...new Set(unopened)];
  const done = `${moved} callback secrets reencrypted, ${current} were up to date.`;
  const json = { moved, current, unopened: accounts };
  if (accounts.length === 0) return { json, lines: [done, previousSecretHint] };
  process.exitCode = 1;
  const cannot = 'Neither VIDEOGEN_SECRET nor VIDEOGEN_SECRET_PREVIOUS decrypts those of these accounts:';
  return { json, lines: [done, cannot, ...accounts] };
}

async function secretBox(config: Config): Promise<SecretBox> {
  return createSecretBox(config.secret ?? (await readOrCreateSecret(config.dataFolder)), config.secretPrevious);
}
