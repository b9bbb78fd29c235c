/** One folder's writes to the disk: the one that runs, and the one that begins after it. */
type Writes = { readonly running: Promise<void>; next: Promise<void> | undefined };

/**
 * Makes what writes a folder to the disk: whatever was put into it before the call is there when it returns. All who ask while
 * one writing runs share the next one, for the folders above those of the tasks are written for every file. A folder is
 * remembered for as long as somebody waits for it.
 */
export function createSharedSync(write: (folder: string) => Promise<void>): (folder: string) => Promise<void> {
  const writesOf = new Map<string, Writes>();
  const start = (folder: string): Promise<void> => {
    const writes: Writes = { running: write(folder), next: undefined };
    writesOf.set(folder, writes);
    const forget = () => {
      if (writes.next === undefined) writesOf.delete(folder);
    };
    writes.running.then(forget, forget);
    return writes.running;
  };
  return (folder) => {
    const writes = writesOf.get(folder);
    if (writes === undefined) return start(folder);
    const begin = () => start(folder);
    return (writes.next ??= writes.running.then(begin, begin));
  };
}
