import { TaskFault } from '../domain/errors.ts';

/**
 * A reference image that cannot be used; final, because to try again only where it might help would tell a client
 * which addresses we refuse. `index` is that of the image in `input.imageUrls`, and `why` goes on after its name:
 * `is animated`.
 */
export function imageFault(
  failCode: 'image_unreachable' | 'image_invalid',
  index: number,
  why: string,
  cause?: unknown,
): TaskFault {
  return new TaskFault(failCode, `input.imageUrls[${index}] ${why}.`, { cause });
}
