export { videoTask } from './video-task.ts';
export { closeAccount } from './close-account.ts';
export { deliverCallback, redeliverSignal } from './deliver-callback.ts';
export { audit, housekeeping, reconcile, reconcilePayments } from './maintenance.ts';
export { testProvider } from './test-provider.ts';
