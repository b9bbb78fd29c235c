export { videoTask } from './video-task.ts';
export { deliverCallback, redeliverSignal } from './deliver-callback.ts';
export { reconcile } from './reconcile.ts';
