import type { Endpoint } from './define-endpoint.ts';
import { accountInfoEndpoints } from './routes/account.ts';
import { accountEndpoints } from './routes/admin/accounts.ts';
import { auditEndpoints } from './routes/admin/audit.ts';
import { operatorCallbackEndpoints } from './routes/admin/callbacks.ts';
import { operatorCreditEndpoints } from './routes/admin/credits.ts';
import { operatorKeyEndpoints } from './routes/admin/keys.ts';
import { rateEndpoints } from './routes/admin/rates.ts';
import { operatorTaskEndpoints } from './routes/admin/tasks.ts';
import { callbackEndpoints } from './routes/callbacks.ts';
import { createTask } from './routes/create-task.ts';
import { keyEndpoints } from './routes/keys.ts';
import { kieEndpoints } from './routes/kie.ts';
import { healthEndpoints } from './routes/monitoring.ts';
import { taskEndpoints } from './routes/tasks.ts';

/** Every endpoint that answers with the envelope, in the order of the documentation. */
export const endpoints: readonly Endpoint[] = [
  createTask,
  ...taskEndpoints,
  ...accountInfoEndpoints,
  ...callbackEndpoints,
  ...keyEndpoints,
  ...kieEndpoints,
  ...healthEndpoints,
  ...accountEndpoints,
  ...operatorCreditEndpoints,
  ...rateEndpoints,
  ...operatorKeyEndpoints,
  ...operatorTaskEndpoints,
  ...operatorCallbackEndpoints,
  ...auditEndpoints,
];
