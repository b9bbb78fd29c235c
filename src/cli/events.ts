import { type Command, InvalidArgumentError, Option } from 'commander';
import { type DeliveryState, deliveryStates, withAttempts } from '../callbacks/deliveries.ts';
import { setLowBalance } from '../accounts/low-balance.ts';
import { findEventEndpoint, removeEventEndpoint, setEventEndpoint } from '../callbacks/event-endpoint.ts';
import { type EventType, eventTypes } from '../callbacks/event.ts';
import { type ListedEvent, listOwnEvents } from '../callbacks/own-deliveries.ts';
import { recordAction } from '../operators/operator-actions.ts';
import { literalRefusal } from '../outbound/guard.ts';
import { urlSchema } from '../tasks/request-text.ts';
import { addCommand, sampleAccount } from './add-command.ts';
import { accountIdOrName, wholeNumber } from './arguments.ts';
import { type Answer, CommandError, isoTime, table } from './output.ts';
import { commandLineActor, type Context, requireAccount, type RunOnDatabase } from './run-command.ts';

export function addEventCommands(program: Command, run: RunOnDatabase): void {
  const event = addCommand(program, 'event').description("manage an account's event endpoint, and list its events");
  addCommand(event, 'endpoint', sampleAccount)
    .description('show the event endpoint')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .action(run(show));
  addCommand(event, 'set', `${sampleAccount} --url https://studio.example.com/events --low-balance 1000`)
    .description('set or replace the event endpoint; pending events go to the new URL')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .requiredOption('--url <url>', 'http or https URL')
    .option('--types <list>', `some of ${eventTypes.join(',')}; all but balance.low by default`, typeList)
    .option('--low-balance <credits>', 'sets the threshold of a low balance, and adds balance.low', wholeNumber(1))
    .action(run(set));
  addCommand(event, 'remove', sampleAccount)
    .description('remove the event endpoint, and abandon its pending events')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .action(run(remove));
  addCommand(event, 'list', sampleAccount, `${sampleAccount} --state failed --json`)
    .description('list events, newest first')
    .argument('<account>', 'account, by id or name', accountIdOrName)
    .addOption(new Option('--type <type>', 'only events of this type').choices(eventTypes))
    .addOption(new Option('--state <state>', 'only events in this state').choices(deliveryStates))
    .option('--limit <n>', 'maximum number of events', wholeNumber(1, 1000), 20)
    .action(run(list));
}

function typeList(text: string): EventType[] {
  return text.split(',').map((name) => {
    const type = eventTypes.find((known) => known === name.trim());
    if (type === undefined) throw new InvalidArgumentError(`Types are ${eventTypes.join(', ')}.`);
    return type;
  });
}

async function show({ db }: Context, accountId: string): Promise<Answer> {
  await requireAccount(db, accountId);
  const endpoint = await findEventEndpoint(db, accountId);
  if (endpoint === undefined) return { json: { endpoint: null }, lines: ['No event endpoint.'] };
  const { url, types } = endpoint;
  return { json: { endpoint }, lines: [`URL: ${url}`, `Types: ${types.join(', ')}`] };
}

type SetOptions = { readonly url: string; readonly types?: readonly EventType[]; readonly lowBalance?: number };

async function set({ db, config }: Context, accountId: string, options: SetOptions): Promise<Answer> {
  await requireAccount(db, accountId);
  const { url, lowBalance } = options;
  const parsed = urlSchema((text) => literalRefusal(text, config.callbackAllow)).safeParse(url);
  if (!parsed.success) throw new CommandError(`invalid --url: ${parsed.error.issues[0]?.message ?? 'not a URL'}`);
  const named = options.types ?? eventTypes.filter((type) => type !== 'balance.low');
  const types = [...new Set(lowBalance === undefined ? named : [...named, 'balance.low' as const])];
  const endpoint = { url, types };
  await recordAction(db, commandLineActor(), async (transaction) => {
    await setEventEndpoint(transaction, accountId, endpoint);
    if (lowBalance !== undefined) await setLowBalance(transaction, accountId, lowBalance);
    return { answer: undefined, done: { action: 'events.set', accountId, details: { ...endpoint, lowBalance } } };
  });
  return { json: { endpoint }, lines: [`Events of account ${accountId} go to ${url}.`] };
}

async function remove({ db }: Context, accountId: string): Promise<Answer> {
  await requireAccount(db, accountId);
  const removed = await recordAction(db, commandLineActor(), async (transaction) => {
    const answer = await removeEventEndpoint(transaction, accountId);
    return { answer, ...(answer && { done: { action: 'events.remove', accountId, details: {} } }) };
  });
  const line = removed ? `The event endpoint of account ${accountId} is removed.` : 'No event endpoint.';
  return { json: { accountId, removed }, lines: [line] };
}

type ListOptions = { readonly type?: EventType; readonly state?: DeliveryState; readonly limit: number };

async function list({ db }: Context, accountId: string, filter: ListOptions): Promise<Answer> {
  await requireAccount(db, accountId);
  const found = await withAttempts(db, await listOwnEvents(db, { accountId, nowMs: Date.now(), ...filter }));
  const events = found.map(({ deliveryId: eventId, event: type, atUs: _atUs, ...rest }) => ({
    eventId,
    type,
    ...rest,
  }));
  return { json: { events }, lines: found.length === 0 ? ['No events.'] : table(eventHeader, found.map(eventRow)) };
}

const eventHeader = ['EVENT', 'TIME', 'TYPE', 'STATE', 'ATTEMPTS', 'TASK'];

type Row = ListedEvent & { readonly attempts: readonly unknown[] };

function eventRow({ deliveryId, createdAt, event, state, attempts, taskId = '-' }: Row): readonly string[] {
  return [deliveryId, isoTime(createdAt), event, state, String(attempts.length), taskId];
}
