import { hourMs } from '../../platform/timing/milliseconds-per-unit.ts';
import {
  createAttemptRetentionMs,
  attemptAndEventRetentionMs,
  oneTimeLinkRetentionMs,
  maxLoggedRequests,
  loggedRequestRetentionMs,
  signInTryRetentionMs,
} from './fixed-retention-periods.ts';

// The tables that grow with use, for docs/operations/growth.md. A test compares them with the schema.

type Growth = { readonly grows: string; readonly shrinks: string };

const days = (ms: number) => `after ${ms / (24 * hourMs)} days`;
const never = 'never';
const byPrompts = `${days(attemptAndEventRetentionMs)}, or \`PROMPT_RETENTION_DAYS\` if that is less; with the content of its task`;

export const tableGrowth: Readonly<Record<string, Growth>> = {
  tasks: { grows: 'a row per task', shrinks: `${never}; prompts and addresses after \`PROMPT_RETENTION_DAYS\`` },
  ledger_entries: { grows: 'one or two rows per task, one per grant and payment', shrinks: never },
  provider_jobs: { grows: 'a row per upstream job, one per task as a rule', shrinks: never },
  provider_configs: { grows: 'a row per model and change of its providers', shrinks: never },
  usage_days: { grows: 'a row per day, account, model and key or person', shrinks: never },
  usage_latencies: { grows: 'up to 40 rows per day, account and model', shrinks: never },
  callback_deliveries: {
    grows: 'a row per callback and per event',
    shrinks: 'with the content of its task; an event about no task ' + days(attemptAndEventRetentionMs),
  },
  callback_attempts: { grows: 'a row per attempt, one per delivery as a rule', shrinks: byPrompts },
  create_attempts: {
    grows: 'a row per create of an SDK that counts its retries',
    shrinks: days(createAttemptRetentionMs),
  },
  api_requests: {
    grows: 'a row per API request',
    shrinks: `${days(loggedRequestRetentionMs)}, or above ${maxLoggedRequests.toLocaleString('en-US')} rows`,
  },
  uploads: { grows: 'a row per uploaded file', shrinks: '50 hours after `MEDIA_RETENTION_DAYS`' },
  operator_actions: { grows: 'a row per change by an operator', shrinks: never },
  prices: { grows: 'a row per price that an operator sets', shrinks: never },
  top_ups: { grows: 'a row per purchase', shrinks: never },
  top_up_reversals: { grows: 'a row per refund and dispute', shrinks: never },
  ungranted_payments: { grows: 'a row per payment that granted nothing', shrinks: never },
  redemption_codes: { grows: 'a row per code', shrinks: never },
  security_events: {
    grows: 'a row per sign-in and change of an account',
    shrinks: 'after `SECURITY_EVENT_RETENTION_DAYS`',
  },
  sessions: { grows: 'a row per sign-in', shrinks: 'at its end, after 7 days at most' },
  sign_in_tries: { grows: 'a row per failed sign-in', shrinks: `after ${signInTryRetentionMs / hourMs} hour` },
  one_time_links: {
    grows: 'a row per invitation, reset and sign-up',
    shrinks: `${days(oneTimeLinkRetentionMs)} past its end`,
  },
  mails: { grows: 'a row per mail', shrinks: 'with the link that it carries' },
  start_credits: { grows: 'a row per mailbox with a start credit', shrinks: never },
  task_favorites: { grows: 'a row per favorite', shrinks: 'with the video of its task' },
  task_tags: { grows: 'a row per tag of a video', shrinks: 'with the video of its task' },
  share_links: { grows: 'a row per share link', shrinks: 'when it expires, is revoked, or its video is deleted' },
  ledger_violations: { grows: 'a row per violation that an audit finds', shrinks: never },
};

/** Tables whose size follows from the number of accounts, people, keys and processes, or that are almost always empty. */
export const smallTables: readonly string[] = [
  'account_closures',
  'accounts',
  'announcements',
  'api_keys',
  'callback_secrets',
  'code_batches',
  'console_assets',
  'content_deletions',
  'event_endpoints',
  'installation',
  'maintenance',
  'memberships',
  'oidc_identities',
  'operators',
  'passkeys',
  'pending_proofs',
  'provider_pools',
  'provider_switches',
  'slot_waits',
  'spend_caps',
  'sweep_cursors',
  'users',
  'worker_reports',
  'workflow_terminations',
];
