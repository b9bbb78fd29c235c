import { setTimeout as delay } from 'node:timers/promises';
import { callbackTimeoutMs } from './callback-schedule.ts';
import { isPublicReceiverError, type ReceiverErrorKind, receiverErrorForAccount } from './receiver-error.ts';
import type { Dialect } from '../../accounts/keys/scopes-dialects-and-caller.ts';
import type { ModelsByName } from '../../catalogue/models/model-type-and-name-lookup.ts';
import { noLinks, type RecordedTask, taskRecord } from '../public-record.ts';
import { withDefaults } from '../../catalogue/input/task-input.ts';
import type { TaskFailure } from '../../catalogue/tasks/task.ts';
import type { Log } from '../../platform/log/log.ts';
import { asciiBrandName } from '../../platform/brand/brand.ts';
import { createGuardedClient, type GuardedClientOptions } from '../../platform/outbound/guarded-client.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import { type CallbackFormatter, createCallbackSender } from './post-callback.ts';
import { readDatabaseTime } from '../../platform/database/database-clock.ts';
import type { Database } from '../../platform/database/database.ts';
import { type EventType, eventBody } from './account-event-types-and-body.ts';
import { ensureSigningSecrets } from './signing-secrets.ts';

/** The task id in test callbacks, which are about no task. */
export const testTaskId = '00000000-0000-0000-0000-000000000000';

type Deps = {
  readonly db: Database;
  readonly box: SecretBox;
  readonly log: Log;
  readonly models: () => ModelsByName;
  /** The form of a dialect's callbacks. */
  readonly callbackFormatOf: (dialect: string) => CallbackFormatter;
  readonly serviceName: string;
} & Required<Pick<GuardedClientOptions, 'allow' | 'own'>>;

/** Sends test callbacks and events, about a task that does not exist, signed and sent like real ones. */
export function createTestCallbackSender({ db, box, log, models, callbackFormatOf, serviceName, allow, own }: Deps) {
  const client = createGuardedClient({
    allow,
    own,
    userAgent: asciiBrandName(serviceName),
    maxPerHost: 8,
    maxWaitingPerHost: 0,
  });
  const sender = createCallbackSender({
    client,
    onUnreachable: ({ error }) => log.info({ kind: error.kind, detail: error.detail }, 'test receiver unreachable'),
  });
  return {
    /**
     * Returns the receiver's status, or the reason if it returned none. For a receiver that is not public, it always returns after the longest time of
     * an attempt. Otherwise a client could distinguish rejected addresses from slow ones and map our network.
     */
    send: async ({ accountId, url, dialect, event }: TestCallbackRequest): Promise<number | ReceiverErrorKind> => {
      const signal = AbortSignal.timeout(2 * callbackTimeoutMs);
      const attempt = async () => {
        const format = callbackFormatOf(dialect);
        const secrets = await ensureSigningSecrets(db, box, accountId, event === undefined ? 'callback' : 'event');
        const body = event === undefined ? sampleBody(format, models()) : sampleEvent(event, models());
        const signedAt = (await readDatabaseTime(db)).now;
        return sender.post({ deliveryId: testTaskId, url, format, body, secrets, signedAt, signal });
      };
      const { status, startedAt, error } = await sender.inSlot({ accountId, url }, signal, attempt);
      if (status === undefined && !isPublicReceiverError(error))
        await delay(startedAt + callbackTimeoutMs - Date.now());
      return status ?? receiverErrorForAccount(error);
    },
    close: () => client.close(),
  };
}

export type TestCallbackRequest = {
  readonly accountId: string;
  readonly url: string;
  readonly dialect: Dialect;
  /** Sends an event of this type instead of a callback. */
  readonly event?: EventType;
};

function sampleBody(format: CallbackFormatter, models: ModelsByName): string {
  return format.callbackBody(taskRecord(sampleTask(models), 100, noLinks), models);
}

const sampleFailures: Readonly<Partial<Record<EventType, TaskFailure>>> = {
  'task.failed': { failCode: 'internal', failMsg: 'A test of your receiver.' },
  'task.cancelled': { failCode: 'cancelled', failMsg: 'A test of your receiver.' },
};

/** The data of events that are about no task. */
const sampleDetails: Readonly<Partial<Record<EventType, object>>> = {
  'balance.low': { balance: 90, lowBalance: 100 },
  'key.cap_reached': {
    subject: 'account',
    subjectId: testTaskId,
    period: 'total',
    cap: 1_000,
    spent: 1_000,
    resetTime: null,
  },
} satisfies Record<Exclude<EventType, `task.${string}`>, object>;

function sampleEvent(event: EventType, models: ModelsByName): string {
  const failure = sampleFailures[event];
  const task: RecordedTask = { ...sampleTask(models), ...(failure !== undefined && { state: 'fail', failure }) };
  const details = sampleDetails[event];
  const record = details === undefined ? taskRecord(task, 100, noLinks) : undefined;
  return eventBody({ deliveryId: testTaskId, event, createdAt: Date.now(), details }, record);
}

function sampleTask(models: ModelsByName): RecordedTask {
  const [model = ''] = models.keys();
  const now = Date.now();
  return {
    taskId: testTaskId,
    param: { model, input: withDefaults({ prompt: 'A test of your receiver. This task does not exist.' }) },
    state: 'success',
    creditsCharged: 0,
    creditsRefunded: 0,
    failure: undefined,
    result: undefined,
    createdAt: now,
    updatedAt: now,
    generationStartedAt: now,
    completedAt: now,
  };
}
