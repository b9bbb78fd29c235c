import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { Config } from '../config.ts';
import { type Role, roles } from '../domain/role.ts';
import { maxEmailLength, normalEmail } from '../domain/user.ts';
import { addressOfLink, createSetupLink, inviteAs, resetAs } from '../stores/invite.ts';
import type { NewLink } from '../stores/one-time-links.ts';
import { eraseUserAs } from '../stores/erasure.ts';
import { disableAs, type Named } from '../stores/people.ts';
import { type ListedUser, listUsers } from '../stores/users.ts';
import { id } from './arguments.ts';
import { type Answer, CommandError, listed } from './output.ts';
import { commandLineActor, type Context, noAccount, type RunOnDatabase } from './run-command.ts';

/** Users that are listed at most. */
const maxListedUsers = 1000;

export function addUserCommands(program: Command, run: RunOnDatabase): void {
  const user = program.command('user').description('invite and list the people who use the console');
  user
    .command('invite')
    .description('make a link that lets somebody in; it is shown once, and given to them by hand')
    .argument('<email>', 'their address', email)
    .option('--operator', 'to run the service')
    .option('--account <account>', 'as a member of this account', id)
    .addOption(new Option('--role <role>', 'what they are there').choices(roles).default('member'))
    .action(run(invite));
  user
    .command('reset')
    .description('make a link by which somebody chooses a new password')
    .argument('<email>', 'their address', email)
    .action(run(reset));
  user
    .command('list')
    .description('people by address, with their accounts')
    .option('--search <text>', 'those whose address holds this', '')
    .action(run(list));
  user
    .command('disable')
    .description('let somebody in no more, from their next request on')
    .argument('<email>', 'their address', email)
    .action(run(setDisabled(true)));
  user
    .command('enable')
    .description('let somebody in again')
    .argument('<email>', 'their address', email)
    .action(run(setDisabled(false)));
  user
    .command('erase')
    .description('delete a person and what is recorded about them, for good')
    .argument('<person>', 'their address, or their id', person)
    .action(run(erase));
  user
    .command('setup-link')
    .description('make the link of a first start, by which the first operator signs up')
    .action(run(setUp));
}

function email(text: string): string {
  const { data, success } = z.email().max(maxEmailLength).safeParse(normalEmail(text));
  if (!success) throw new InvalidArgumentError('It must be an e-mail address.');
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
  const wanted = { email: address, isOperator: operator, accountId, role: accountId === undefined ? undefined : role };
  const link = await inviteAs(db, commandLineActor(), wanted);
  if (link === undefined) throw noAccount(accountId ?? '');
  return linkAnswer(config, 'invite', link);
}

async function reset({ db, config }: Context, address: string): Promise<Answer> {
  const link = await resetAs(db, commandLineActor(), address);
  if (link === undefined) throw noUser(address);
  return linkAnswer(config, 'reset', link);
}

async function setUp({ db, config }: Context): Promise<Answer> {
  const link = await createSetupLink(db);
  if (link === undefined) throw new CommandError('somebody can sign in as an operator already; they can invite others');
  return linkAnswer(config, 'setup', link);
}

function linkAnswer(config: Config, purpose: 'setup' | 'invite' | 'reset', link: NewLink): Answer {
  const url = addressOfLink(config.publicUrl ?? `http://${config.host}:${config.port}`, purpose, link);
  const until = new Date(link.expiresAt).toISOString();
  const json = { linkId: link.linkId, url, expiresAt: link.expiresAt };
  return { json, lines: [url, `It works once, until ${until}.`] };
}

async function list({ db }: Context, { search }: { search: string }): Promise<Answer> {
  return listed('users', await listUsers(db, { search, limit: maxListedUsers }), userLine);
}

function userLine({ userId, email: address, isOperator, isDisabled, accounts }: ListedUser): string {
  const what = [isOperator ? 'operator' : '', isDisabled ? 'disabled' : ''].filter(Boolean);
  const where = accounts.map(({ accountId, role }) => `${role} of ${accountId}`);
  return [userId, address, ...what, ...where].join('  ');
}

function setDisabled(isDisabled: boolean) {
  return async ({ db }: Context, address: string): Promise<Answer> => {
    const user = await disableAs(db, commandLineActor(), { email: address }, isDisabled);
    if (user === undefined) throw noUser(address);
    if (user === 'last_operator') throw new CommandError('nobody else can sign in as an operator');
    return {
      json: { userId: user.userId, disabled: isDisabled },
      lines: [`${address} is ${isDisabled ? 'disabled; their sessions have ended' : 'let in again'}.`],
    };
  };
}

async function erase({ db }: Context, named: Named): Promise<Answer> {
  const erasure = await eraseUserAs(db, commandLineActor(), named);
  const name = 'userId' in named ? named.userId : named.email;
  switch (erasure.kind) {
    case 'erased': {
      const { userId = null } = erasure;
      const said =
        userId === null
          ? `Nobody has the address ${name}; invitations to it and records of it are erased.`
          : `${name} is erased.`;
      return { json: { userId }, lines: [said] };
    }
    case 'last_owner':
      throw new CommandError(
        `account ${erasure.accountId} has no other owner; make another member its owner, or close it`,
      );
    case 'last_operator':
      throw new CommandError('nobody else can sign in as an operator');
    case 'not_found':
      throw 'userId' in named ? new CommandError(`no user has the id ${name}`) : noUser(name);
    default:
      return erasure satisfies never;
  }
}

function noUser(address: string): CommandError {
  return new CommandError(`nobody has the address ${address}`);
}
