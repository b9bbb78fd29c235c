import { hash } from 'node:crypto';
import type { TaskParam } from '../domain/task.ts';

/** SHA-256 of a validated request: equal for two bodies that mean the same, whether defaults were written out or not. */
export function fingerprint(param: TaskParam): Buffer {
  const { prompt, resolution, duration, ratio, generateAudio, imageUrls } = param.input;
  const canonical = [
    param.model,
    prompt,
    resolution,
    duration,
    ratio,
    generateAudio,
    imageUrls,
    param.callBackUrl ?? null,
  ];
  return hash('sha256', JSON.stringify(canonical), 'buffer');
}
