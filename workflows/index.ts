export { videoTask } from './video-task.ts';
export { deliverCallback } from './deliver-callback.ts';
export { reconcile } from './reconcile.ts';
