import { existsSync, readdirSync, readlinkSync } from 'node:fs';

/** Lists the open files of this process whose paths match; none where the system does not show them. */
export function openFiles(name: RegExp): readonly string[] {
  const folder = '/proc/self/fd';
  if (!existsSync(folder)) return [];
  const targets = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`);
    } catch {
      // The descriptor was closed after the listing.
      return '';
    }
  });
  return targets.filter((target) => name.test(target));
}
