import type { Endpoint, DepsOfAll } from './core/define-endpoint.ts';
import { operatorAccountEndpoints } from './accounts/operator-account-routes.ts';
import { ownAccountEndpoints } from './accounts/rename-export-close-account-routes.ts';
import { memberAndSecurityEndpoints } from './people/member-routes.ts';
import { passkeyEndpoints } from './sign-in/passkey-routes.ts';
import { sessionAndPasswordEndpoints } from './sign-in/own-sessions-and-password-routes.ts';
import { signInAndOneTimeLinkEndpoints } from './sign-in/sign-in-and-one-time-link-routes.ts';
import { operatorOpenSignUpEndpoints, signUpEndpoints } from './sign-in/sign-up-routes.ts';
import { viewAsOwnerEndpoints } from './people/view-as-owner-routes.ts';
import { operatorAnnouncementEndpoints } from './operators/announcement-routes.ts';
import { adminShowCatalogue } from './models/loaded-catalogue-routes.ts';
import { trendAndTopAccountEndpoints } from './operators/trends-and-top-accounts-routes.ts';
import { operatorWaitAndRetryEndpoints } from './operators/waiting-and-retry-routes.ts';
import { adminOverview } from './operators/admin-overview-routes.ts';
import { operatorAuditEndpoints } from './operators/audit-log-routes.ts';
import { callbackEndpoints, operatorCallbackEndpoints } from './callbacks/callback-routes.ts';
import { eventApiEndpoints } from './callbacks/event-routes.ts';
import { creditEndpoints, operatorCreditEndpoints } from './credits/credit-routes.ts';
import { createTask } from './tasks/create-task-routes.ts';
import { quoteTaskPrice } from './tasks/task-price-routes.ts';
import { archiveVideos } from './gallery/archive-routes.ts';
import { galleryEndpoints } from './gallery/gallery-routes.ts';
import { shareEndpoints } from './gallery/share-link-routes.ts';
import { operatorStatementEndpoints, statementEndpoints } from './credits/statement-routes.ts';
import { usageEndpoints } from './credits/usage-report-routes.ts';
import { operatorSpendCapEndpoints, spendCapEndpoints } from './credits/spend-cap-routes.ts';
import { paymentWebhookEndpoints } from './payments/payment-webhook-routes.ts';
import { operatorPaymentEndpoints, paymentEndpoints } from './payments/top-up-routes.ts';
import { operatorRedemptionEndpoints, redemptionEndpoints } from './credits/redemption-routes.ts';
import { keyEndpoints, operatorKeyEndpoints } from './accounts/key-routes.ts';
import { kieEndpoints } from './dialects/kie/kie-credit-and-download-url-routes.ts';
import { shapes } from './dialects/shapes.ts';
import { modelEndpoints } from './models/model-routes.ts';
import { operatorPriceEndpoints } from './credits/operator-price-routes.ts';
import { healthEndpoints } from './health/health-routes.ts';
import { operatorPeopleEndpoints } from './people/operator-people-routes.ts';
import { getLimitsEndpoint } from './accounts/account-limits-routes.ts';
import { requestLogEndpoints } from './request-log/request-log-routes.ts';
import { getOverviewEndpoint } from './accounts/account-overview-routes.ts';
import { setLowBalanceEndpoint, getStatusEndpoint } from './accounts/account-status-and-low-balance-routes.ts';
import { operatorProviderAndMarginEndpoints } from './providers/provider-and-margin-routes.ts';
import { sendTestCallbackEndpoint, sendTestEventEndpoint } from './callbacks/test-callback-and-event-routes.ts';
import { previewUploads, uploadMedia } from './media/upload-routes.ts';
import { cancelEndpoints, operatorCancelEndpoints } from './tasks/cancel-task-routes.ts';
import { operatorTaskExportEndpoints, taskExportEndpoints } from './tasks/task-export-routes.ts';
import { operatorTaskListAndCountEndpoints, taskListAndCountEndpoints } from './tasks/task-list-and-count-routes.ts';
import { recordInfo } from './tasks/record-info-routes.ts';
import { adminDeleteTask, deleteTask, deleteTasks } from './tasks/delete-task-routes.ts';
import { adminShowTask, showTimeline } from './tasks/timeline-and-operator-task-routes.ts';

export type Section = {
  readonly tag: string;
  readonly description: string;
  /** Shown on a page of its own, not to clients. */
  readonly isForOperators?: true;
  readonly endpoints: readonly Endpoint[];
};

const declared = [
  {
    tag: 'tasks',
    description: 'Create video generation tasks and follow them.',
    endpoints: [
      createTask,
      quoteTaskPrice,
      uploadMedia,
      previewUploads,
      recordInfo,
      ...cancelEndpoints,
      ...taskListAndCountEndpoints,
      ...taskExportEndpoints,
      deleteTask,
      deleteTasks,
      showTimeline,
    ],
  },
  {
    tag: 'gallery',
    description: 'Finished videos: favorites, tags, archives and share links.',
    endpoints: [...galleryEndpoints, archiveVideos, ...shareEndpoints],
  },
  {
    tag: 'account',
    description: 'Credits, models and limits.',
    endpoints: [
      getOverviewEndpoint,
      getStatusEndpoint,
      setLowBalanceEndpoint,
      getLimitsEndpoint,
      ...creditEndpoints,
      ...statementEndpoints,
      ...usageEndpoints,
      ...modelEndpoints,
    ],
  },
  {
    tag: 'callbacks',
    description: 'Notifications at the end of a task.',
    endpoints: [...callbackEndpoints, sendTestCallbackEndpoint],
  },
  {
    tag: 'events',
    description:
      'Notifications about the whole account: the ends of all its tasks, a low balance, and reached spend caps.',
    endpoints: [...eventApiEndpoints, sendTestEventEndpoint],
  },
  {
    tag: 'keys',
    description: 'API keys of the account, and caps on what they spend.',
    endpoints: [...keyEndpoints, ...spendCapEndpoints],
  },
  {
    tag: 'requests',
    description: 'The log of API calls of the account.',
    endpoints: requestLogEndpoints,
  },
  {
    tag: 'kie',
    description: 'Only for keys of the [dialect `kie`](/docs/dialect-kie), whose page lists all other differences.',
    endpoints: kieEndpoints,
  },
  ...shapes.map(({ name: tag, description, endpoints: ofShape }) => ({ tag, description, endpoints: ofShape })),
  {
    tag: 'console',
    isForOperators: true,
    description:
      'Only for pages of the console, which authenticate with a cookie. Each request has the header `Videogen-Console: 1`, or ' +
      "`Videogen-Account` with an account id. With these, the cookie also opens the other endpoints, as the person's role allows.",
    endpoints: [
      ...signInAndOneTimeLinkEndpoints,
      ...signUpEndpoints,
      ...sessionAndPasswordEndpoints,
      ...viewAsOwnerEndpoints,
      ...passkeyEndpoints,
      ...memberAndSecurityEndpoints,
      ...ownAccountEndpoints,
      ...redemptionEndpoints,
      ...paymentEndpoints,
    ],
  },
  {
    tag: 'service',
    isForOperators: true,
    description: 'Checks by load balancers and monitoring, and events of payment providers, without an API key.',
    endpoints: [...healthEndpoints, ...paymentWebhookEndpoints],
  },
  {
    tag: 'operators',
    isForOperators: true,
    description: "For operators, with an operator's key. The audit log records every change.",
    endpoints: [
      adminOverview,
      ...trendAndTopAccountEndpoints,
      ...operatorAccountEndpoints,
      ...operatorCreditEndpoints,
      ...operatorStatementEndpoints,
      ...operatorPriceEndpoints,
      adminShowCatalogue,
      ...operatorRedemptionEndpoints,
      ...operatorPaymentEndpoints,
      ...operatorSpendCapEndpoints,
      ...operatorProviderAndMarginEndpoints,
      ...operatorKeyEndpoints,
      ...operatorTaskListAndCountEndpoints,
      ...operatorTaskExportEndpoints,
      ...operatorCancelEndpoints,
      adminShowTask,
      adminDeleteTask,
      ...operatorCallbackEndpoints,
      ...operatorPeopleEndpoints,
      ...operatorOpenSignUpEndpoints,
      ...operatorAuditEndpoints,
      ...operatorAnnouncementEndpoints,
      ...operatorWaitAndRetryEndpoints,
    ],
  },
] satisfies readonly Section[];

/** What all endpoints need. `src/run/main` must provide it. */
export type AllEndpointDeps = DepsOfAll<(typeof declared)[number]['endpoints'][number]>;

/** In the order of the documentation. */
export const sections: readonly Section[] = declared;

export const endpoints: readonly Endpoint<AllEndpointDeps>[] = declared.flatMap<Endpoint<AllEndpointDeps>>(
  (section) => section.endpoints,
);
