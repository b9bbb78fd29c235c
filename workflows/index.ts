export { videoTask } from './video-task.ts';
export { closeAccount } from './close-account.ts';
export { deliverCallback, redeliverSignal } from './deliver-callback.ts';
export { audit } from './audit.ts';
export { housekeeping } from './housekeeping.ts';
export { reconcilePayments } from './reconcile-payments.ts';
export { reconcile } from './reconcile.ts';
export { testProvider } from './test-provider.ts';
