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

/** In the order of the documentation. */
export const sections: readonly Section[] = [
  {
    tag: 'tasks',
    description: 'Create video generation tasks and follow them.',
    endpoints: [createTask, uploadImage, ...taskEndpoints, deleteTask, showTimeline],
  },
  {
    tag: 'account',
    description: 'Credits, models and limits.',
    endpoints: [showOverview, ...creditEndpoints, ...modelEndpoints],
  },
  {
    tag: 'callbacks',
    description: 'Notifications at the end of a task.',
    endpoints: [...callbackEndpoints, testCallback],
  },
  { tag: 'keys', description: 'API keys of the account.', endpoints: keyEndpoints },
  {
    tag: 'kie',
    description: 'Only for keys of the [dialect `kie`](/docs/dialect-kie), whose page lists all other differences.',
    endpoints: kieEndpoints,
  },
  {
    tag: 'console',
    description:
      'Only for pages of the console, which authenticate with a cookie. Each request has the header `Videogen-Console: 1`, or ' +
      "`Videogen-Account` with an account id. With these, the cookie also opens the other endpoints, as the person's role allows.",
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
    description: 'Checks by load balancers and monitoring, without an API key.',
    endpoints: healthEndpoints,
  },
  {
    tag: 'operators',
    description: "For operators, with an operator's key. The audit log records every change.",
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
