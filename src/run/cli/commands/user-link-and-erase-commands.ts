import { type Command, InvalidArgumentError } from 'commander';
import { z } from 'zod';
import type { Config } from '../../config/config.ts';
import { maxEmailLength, normalEmail } from '../../../accounts/people/email-and-password-format.ts';
import {
  createSetupLink,
  type UserIdOrEmail,
  createResetLinkAs,
} from '../../../accounts/people/change-users-as-operator.ts';
import { urlOfLink, type LinkWithToken } from '../../../accounts/sign-in/one-time-links.ts';
import { eraseUserAs } from '../../../accounts/people/erasure.ts';
import { readOrCreateSecret } from '../../embedded/data-folder-lock-and-files.ts';
import { createMailQueue, type MailQueue, mailKeyPurpose } from '../../../platform/mail/mail-queue.ts';
import { createSecretBox } from '../../../platform/secrets/secret-box.ts';
import { addCommand } from '../add-command.ts';
import { type CommandAnswer, CommandError, isoTime } from '../command-output-and-errors.ts';
import { commandLineActor, type DatabaseAndConfig, type RunOnDatabase } from '../database-and-temporal-for-commands.ts';
import { publicUrlOf } from '../generate/service-options.ts';

export function addUserCommands(program: Command, run: RunOnDatabase): void {
  const user = addCommand(program, 'user').description('create links for people of the console, and erase people');
  addCommand(user, 'reset', 'ada@example.com')
    .description('create a link for a new password')
    .argument('<email>', 'the e-mail address', email)
    .action(run(reset));
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

function person(text: string): UserIdOrEmail {
  return z.uuid().safeParse(text).success ? { userId: text } : { email: email(text) };
}

async function reset({ db, config }: DatabaseAndConfig, address: string): Promise<CommandAnswer> {
  const link = await createResetLinkAs(db, commandLineActor(), address, await mailQueueOf(config));
  if (link === undefined) throw noUser(address);
  return linkAnswer(config, link);
}

async function setUp({ db, config }: DatabaseAndConfig): Promise<CommandAnswer> {
  const link = await createSetupLink(db);
  if (link === undefined) throw new CommandError('the installation has an operator already, who can invite others');
  return linkAnswer(config, link);
}

/** The queue of the service, whose API sends the mails. */
async function mailQueueOf({ smtp, secret, secretPrevious, dataFolder }: Config): Promise<MailQueue | undefined> {
  if (smtp === undefined) return undefined;
  return createMailQueue(
    createSecretBox(secret ?? (await readOrCreateSecret(dataFolder)), secretPrevious, mailKeyPurpose),
  );
}

async function linkAnswer(
  config: Config,
  link: LinkWithToken & { readonly isMailed?: boolean },
): Promise<CommandAnswer> {
  const url = urlOfLink(await publicUrlOf(config), link);
  const { linkId, expiresAt: expireTime, isMailed = false } = link;
  const mailed = isMailed ? ['It is also sent by e-mail.'] : [];
  return {
    json: { linkId, url, expireTime, isMailed },
    lines: [url, `Works once, until ${isoTime(expireTime)}.`, ...mailed],
  };
}

async function erase({ db }: DatabaseAndConfig, named: UserIdOrEmail): Promise<CommandAnswer> {
  const erasure = await eraseUserAs(db, commandLineActor(), named);
  const name = 'userId' in named ? named.userId : named.email;
  if (erasure === 'person_not_found')
    throw 'userId' in named ? new CommandError(`no user has the id ${name}`) : noUser(name);
  if (erasure === 'last_operator') throw new CommandError('this is the only operator; make another person one first');
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
