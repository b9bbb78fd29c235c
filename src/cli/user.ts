import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Config } from '../config/config.ts';
import { type Role, roles } from '../people/role.ts';
import { maxEmailLength, normalEmail } from '../people/user.ts';
import { createSetupLink, disableAs, inviteAs, type Named, resetAs } from '../people/people.ts';
import { addressOfLink, type NewLink } from '../people/one-time-links.ts';
import { eraseUserAs } from '../people/erasure.ts';
import { listPeople, type OperatorsPerson } from '../people/person-list.ts';
import { persistedSecret } from '../embedded/data-folder.ts';
import { createMailQueue, type MailQueue, mailSecrets } from '../mail/mail-queue.ts';
import { createSecretBox } from '../outbound/secrets.ts';
import { addCommand, sampleAccount } from './add-command.ts';
import { accountIdOrName } from './arguments.ts';
import { type Answer, CommandError, listed } from './output.ts';
import { commandLineActor, type Context, noAccount, type RunOnDatabase } from './run-command.ts';
import { publicUrlOf } from './service-options.ts';

const maxListedUsers = 1000;

export function addUserCommands(program: Command, run: RunOnDatabase): void {
  const user = addCommand(program, 'user').description('manage the people who use the console');
  addCommand(user, 'invite', 'ada@example.com --operator', `ben@example.com --account ${sampleAccount} --role viewer`)
    .description('create an invitation link, which is shown once; send it to the person')
    .argument('<email>', 'the e-mail address', email)
    .option('--operator', 'as an operator')
    .option('--account <account>', 'as a member of this account', accountIdOrName)
    .addOption(new Option('--role <role>', 'the role in the account').choices(roles).default('member'))
    .action(run(invite));
  addCommand(user, 'reset', 'ada@example.com')
    .description('create a link for a new password')
    .argument('<email>', 'the e-mail address', email)
    .action(run(reset));
  addCommand(user, 'list', '', '--search example.com --json')
    .description('list people by address, with their accounts')
    .option('--search <text>', 'a part of the address', '')
    .action(run(list));
  addCommand(user, 'disable', 'ben@example.com')
    .description('disable a person and end their sessions')
    .argument('<email>', 'the e-mail address', email)
    .action(run(setDisabled(true)));
  addCommand(user, 'enable', 'ben@example.com')
    .description('enable a disabled person')
    .argument('<email>', 'the e-mail address', email)
    .action(run(setDisabled(false)));
  addCommand(user, 'erase', 'ben@example.com')
    .description('delete a person and the records about them; cannot be undone')
    .argument('<person>', 'the e-mail address or the id', person)
    .action(run(erase));
  addCommand(user, 'setup-link')
    .description('create the link with which the first operator signs up')
    .action(run(setUp));
}

function email(text: string): string {
  const { data, success } = z.email().max(maxEmailLength).safeParse(normalEmail(text));
  if (!success) throw new InvalidArgumentError('must be an e-mail address');
  return data;
}

function person(text: string): Named {
  return z.uuid().safeParse(text).success ? { userId: text } : { email: email(text) };
}

type Invited = { operator?: boolean; account?: string; role: Role };

async function invite(
  { db, config }: Context,
  address: string,
  { operator = false, account: accountId, role }: Invited,
): Promise<Answer> {
  if (!operator && accountId === undefined) throw new CommandError('give --operator, --account or both');
  const roleThere = accountId === undefined ? undefined : role;
  const invitation = { email: address, isOperator: operator, accountId, role: roleThere };
  const link = await inviteAs(db, commandLineActor(), invitation, await mailQueueOf(config));
  if (link === undefined) throw noAccount(accountId ?? '');
  return linkAnswer(config, link);
}

async function reset({ db, config }: Context, address: string): Promise<Answer> {
  const link = await resetAs(db, commandLineActor(), address, await mailQueueOf(config));
  if (link === undefined) throw noUser(address);
  return linkAnswer(config, link);
}

async function setUp({ db, config }: Context): Promise<Answer> {
  const link = await createSetupLink(db);
  if (link === undefined) throw new CommandError('the installation has an operator already, who can invite others');
  return linkAnswer(config, link);
}

/** The queue of the service, whose API sends the mails. */
async function mailQueueOf({ smtp, secret, secretPrevious, dataFolder }: Config): Promise<MailQueue | undefined> {
  if (smtp === undefined) return undefined;
  return createMailQueue(createSecretBox(secret ?? (await persistedSecret(dataFolder)), secretPrevious, mailSecrets));
}

export async function linkAnswer(config: Config, link: NewLink & { readonly isMailed?: boolean }): Promise<Answer> {
  const url = addressOfLink(await publicUrlOf(config), link);
  const until = new Date(link.expiresAt).toISOString();
  const { linkId, expiresAt, isMailed = false } = link;
  const mailed = isMailed ? ['It is also sent by e-mail.'] : [];
  return { json: { linkId, url, expiresAt, isMailed }, lines: [url, `Works once, until ${until}.`, ...mailed] };
}

async function list({ db }: Context, { search }: { search: string }): Promise<Answer> {
  return listed('users', await listPeople(db, { search, limit: maxListedUsers }), userColumns);
}

const userColumns = {
  header: ['USER', 'EMAIL', 'STATE', 'ROLES'],
  cells: ({ userId, email: address, isOperator, isDisabled, accounts }: OperatorsPerson) => {
    const accountRoles = accounts.map(({ accountId, role }) => `${role} of ${accountId}`);
    return [
      userId,
      address,
      isDisabled ? 'disabled' : 'active',
      (isOperator ? ['operator', ...accountRoles] : accountRoles).join(', '),
    ];
  },
};

function setDisabled(isDisabled: boolean) {
  return async ({ db }: Context, address: string): Promise<Answer> => {
    const user = await disableAs(db, commandLineActor(), { email: address }, isDisabled);
    if (user === undefined) throw noUser(address);
    if (user === 'last_operator') throw onlyOperator();
    return {
      json: { userId: user.userId, disabled: isDisabled },
      lines: [`${address} is ${isDisabled ? 'disabled, and all sessions have ended' : 'enabled'}.`],
    };
  };
}

async function erase({ db }: Context, named: Named): Promise<Answer> {
  const erasure = await eraseUserAs(db, commandLineActor(), named);
  const name = 'userId' in named ? named.userId : named.email;
  if (erasure === 'person_not_found')
    throw 'userId' in named ? new CommandError(`no user has the id ${name}`) : noUser(name);
  if (erasure === 'last_operator') throw onlyOperator();
  if ('onlyOwnerOf' in erasure)
    throw new CommandError(
      `account ${erasure.onlyOwnerOf} has no other owner; make another member its owner, or close it`,
    );
  const { userId = null } = erasure;
  const what = userId === null ? `No user has the address ${name}. Invitations and records of it are` : `${name} is`;
  return { json: { userId }, lines: [`${what} erased.`] };
}

function noUser(address: string): CommandError {
  return new CommandError(`no user has the address ${address}`);
}

function onlyOperator(): CommandError {
  return new CommandError('this is the only operator; make another person one first');
}
