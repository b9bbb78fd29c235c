import { chatCreditOperation } from './kie/chat-credit.ts';
import { downloadUrlOperation } from './kie/download-url.ts';
import type { Operation } from './operation.ts';
import { operatorOperations } from './operator-routes.ts';
import { listCallbacksOperation } from './routes/callbacks-list.ts';
import { redeliverCallbackOperation } from './routes/callbacks-redeliver.ts';
import { rotateCallbackSecretOperation } from './routes/callbacks-rotate-secret.ts';
import { showCallbackSecretOperation } from './routes/callbacks-secret.ts';
import { cancelTaskOperation } from './routes/cancel-task.ts';
import { createTaskOperation } from './routes/create-task.ts';
import { creditsOperation } from './routes/credits.ts';
import { healthzOperation } from './routes/healthz.ts';
import { createKeyOperation } from './routes/keys-create.ts';
import { listKeysOperation } from './routes/keys-list.ts';
import { revokeKeyOperation } from './routes/keys-revoke.ts';
import { rotateKeyOperation } from './routes/keys-rotate.ts';
import { listTasksOperation } from './routes/list-tasks.ts';
import { modelsOperation } from './routes/models.ts';
import { readyzOperation } from './routes/readyz.ts';
import { recordInfoOperation } from './routes/record-info.ts';

/** Every documented endpoint, in the order of the documentation; a test holds the list against the routes. */
export const operations: readonly Operation[] = [
  createTaskOperation,
  recordInfoOperation,
  cancelTaskOperation,
  listTasksOperation,
  creditsOperation,
  modelsOperation,
  listCallbacksOperation,
  redeliverCallbackOperation,
  showCallbackSecretOperation,
  rotateCallbackSecretOperation,
  listKeysOperation,
  createKeyOperation,
  rotateKeyOperation,
  revokeKeyOperation,
  chatCreditOperation,
  downloadUrlOperation,
  healthzOperation,
  readyzOperation,
  ...operatorOperations,
];
