/** Compares versions such as `20.9.0` and `20.19` by their numbers. */
export function isOlderVersion(version: string, than: string): boolean {
  return version.localeCompare(than, 'en', { numeric: true }) < 0;
}
