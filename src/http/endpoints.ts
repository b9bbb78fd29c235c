import type { Endpoint } from './define-endpoint.ts';
import { accountEndpoints } from './routes/accounts.ts';
import { ownAccountEndpoints } from './routes/console/own-account.ts';
import { memberEndpoints } from './routes/console/members.ts';
import { passkeyEndpoints } from './routes/console/passkeys.ts';
import { sessionEndpoints } from './routes/console/sessions.ts';
import { signInEndpoints } from './routes/console/sign-in.ts';
import { adminOverview } from './routes/admin-overview.ts';
import { auditEndpoints } from './routes/audit.ts';
import { callbackEndpoints, operatorCallbackEndpoints } from './routes/callbacks.ts';
import { creditEndpoints, operatorCreditEndpoints } from './routes/credits.ts';
import { createTask } from './routes/create-task.ts';
import { keyEndpoints, operatorKeyEndpoints } from './routes/keys.ts';
import { kieEndpoints } from './routes/kie.ts';
import { modelEndpoints, operatorPriceEndpoints } from './routes/models.ts';
import { healthEndpoints } from './routes/monitoring.ts';
import { peopleEndpoints } from './routes/people.ts';
import { showOverview } from './routes/overview.ts';
import { operatorProviderEndpoints } from './routes/providers.ts';
import { testCallback } from './routes/test-callback.ts';
import { uploadImage } from './routes/uploads.ts';
import { operatorTaskEndpoints, taskEndpoints } from './routes/tasks.ts';
import { adminDeleteTask, deleteTask } from './routes/delete-task.ts';
import { showTimeline } from './routes/timeline.ts';

export type Section = { readonly tag: string; readonly description: string; readonly endpoints: readonly Endpoint[] };

/** Every endpoint that answers with the envelope, in the sections and the order of the documentation. */
export const sections: readonly Section[] = [
  {
    tag: 'tasks',
    description: 'Create video generation tasks and follow them to their end.',
    endpoints: [createTask, uploadImage, ...taskEndpoints, deleteTask, showTimeline],
  },
  {
    tag: 'account',
    description: 'Credits, models and limits.',
    endpoints: [showOverview, ...creditEndpoints, ...modelEndpoints],
  },
  {
    tag: 'callbacks',
    description: 'The notifications that are sent when a task ends.',
    endpoints: [...callbackEndpoints, testCallback],
  },
  { tag: 'keys', description: "The account's own API keys.", endpoints: keyEndpoints },
  {
    tag: 'kie',
    description:
      'Only for keys of the [dialect `kie`](/docs/dialect-kie), which tells what else such a key reads and sends otherwise.',
    endpoints: kieEndpoints,
  },
  {
    tag: 'console',
    description:
      'For the pages of the console alone, which people use with a cookie and no key. Each request has the header ' +
      '`Videogen-Console: 1`, or `Videogen-Account` with the id of the account that it is about; with these the cookie also ' +
      "opens the other endpoints, as far as the person's role allows.",
    endpoints: [
      ...signInEndpoints,
      ...sessionEndpoints,
      ...passkeyEndpoints,
      ...memberEndpoints,
      ...ownAccountEndpoints,
    ],
  },
  {
    tag: 'service',
    description: 'For load balancers and monitors; no API key is needed.',
    endpoints: healthEndpoints,
  },
  {
    tag: 'operators',
    description: "For those who run the service, with an operator's key. Every change is written into the audit log.",
    endpoints: [
      adminOverview,
      ...accountEndpoints,
      ...operatorCreditEndpoints,
      ...operatorPriceEndpoints,
      ...operatorProviderEndpoints,
      ...operatorKeyEndpoints,
      ...operatorTaskEndpoints,
      adminDeleteTask,
      ...operatorCallbackEndpoints,
      ...peopleEndpoints,
      ...auditEndpoints,
    ],
  },
];

export const endpoints = sections.flatMap((section) => section.endpoints);
