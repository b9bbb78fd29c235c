import { setTimeout as pause } from 'node:timers/promises';
import { mailSignatureOf } from '../../platform/brand/brand.ts';
import type { CompleteSettings } from '../config/complete-settings-and-derived-values.ts';
import type { DrainablePart } from './run-until-signal.ts';
import { createApp } from '../../api/app.ts';
import { storeConsoleFilesInDatabase } from '../../api/console/serve-console-and-store-its-files.ts';
import { startHttpServer } from '../../api/core/server/http-server.ts';
import { createMailer } from '../../platform/mail/mailer.ts';
import { sendMailsUntilClosed } from '../../platform/mail/send-mails.ts';
import { explainListenError } from '../../platform/process/folder-and-port-errors.ts';
import { makePrivateFolder } from '../../platform/process/make-private-folder.ts';
import { createMetrics } from '../metrics/create-metrics-registry.ts';
import { isCookieExposed } from '../../api/sign-in/session-and-oidc-visit-cookies.ts';
import { type Database, withResponseTimeLimit } from '../../platform/database/database.ts';
import type { Log } from '../../platform/log/log.ts';
import { retryStartStep } from '../../platform/timing/retry-start-step.ts';
import { mailSecretBoxOf, openApiDependencies } from './api-dependencies.ts';
import { reportChangedSecret } from './report-changed-secret.ts';
import { watchReadiness } from './monitoring/watch-readiness.ts';
import { claimAndWatchStoreAndNamespace } from './monitoring/watch-store-and-namespace-owner.ts';
import { writtenFoldersOf, watchDisks } from './monitoring/watch-disks.ts';

/** Applies to running requests, and then to the workflow starts behind them. */
export const apiDrainMs = 15_000;

const readinessPauseMs = 1_000;

const publishLimitMs = 5_000;

/** Starts the HTTP API in this process; `say` prints a sentence for the operator. While Temporal is unavailable, tasks are accepted and wait. */
export async function startApi(
  settings: CompleteSettings,
  log: Log,
  metrics = createMetrics(),
  say?: (message: string) => void,
): Promise<DrainablePart> {
  await makePrivateFolder(settings.workFolder, 'VIDEOGEN_DATA').catch((error: unknown) => {
    log.warn({ err: error }, 'work folder unusable: images cannot be uploaded');
  });
  let isLeaving = false;
  const reasons = () =>
    isLeaving ? ['stopping'] : [...readiness.reasons(), ...belonging.problems(), ...disks.problems()];
  const state = { reasons, diskProblem: () => disks.problems()[0] };
  const parts = await openApiDependencies(settings, log, metrics, state);
  const { events } = parts;
  const { db, taskWaiters } = parts.needs;
  const { databaseUrl, host, port, publicUrl } = settings;
  const belonging = await claimAndWatchStoreAndNamespace({ db, settings, log, isWorker: false }).catch(
    async (error: unknown) => {
      await parts.close();
      throw error;
    },
  );
  const readiness = await watchReadiness({ part: 'api', databaseUrl, events, log, pauseMs: readinessPauseMs });
  await reportChangedSecret(db, settings, log, say);
  const folders = writtenFoldersOf(settings);
  const disks = await watchDisks({ part: 'api', folders, events, log, pauseMs: readinessPauseMs });
  metrics.readiness.set('api', reasons);
  const stopping = new AbortController();
  await publishOwnConsole(db, log, stopping.signal);
  const server = await startHttpServer({ app: createApp(parts.needs), host, port, log }).catch(
    async (error: unknown) => {
      stopping.abort();
      await Promise.all([readiness.close(), belonging.close(), disks.close(), parts.close()]);
      throw explainListenError(error, settings, 'PORT');
    },
  );
  const mailing = startMailing(settings, db, log);
  log.info({ port: server.port, publicUrl }, 'api started');
  if (isCookieExposed(publicUrl))
    log.warn({ publicUrl }, 'PUBLIC_URL is plain http; console sessions travel unencrypted');
  return {
    leave: () => {
      isLeaving = true;
      server.announceClose();
    },
    close: async () => {
      stopping.abort();
      taskWaiters.close();
      await server.close(apiDrainMs);
      await parts.drain(apiDrainMs);
      await mailing?.close();
      await Promise.all([readiness.close(), belonging.close(), disks.close(), parts.close()]);
    },
  };
}

/** A page of this process may load its files from a process of another release. The start does not depend on the database. */
async function publishOwnConsole(db: Database, log: Log, signal: AbortSignal): Promise<void> {
  const publication = retryStartStep({ step: "publish the console's files", log, signal }, () =>
    storeConsoleFilesInDatabase(withResponseTimeLimit(db, publishLimitMs)),
  ).catch(() => undefined);
  await Promise.race([publication, pause(publishLimitMs, undefined, { ref: false })]);
}

function startMailing(settings: CompleteSettings, db: Database, log: Log) {
  const { smtp, brand, publicUrl } = settings;
  if (smtp === undefined) return undefined;
  const service = mailSignatureOf(brand, publicUrl);
  return sendMailsUntilClosed({ db, box: mailSecretBoxOf(settings), mailer: createMailer(smtp), service, log });
}
