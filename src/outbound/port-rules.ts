/**
 * Ports above 1023 behind which no web server lives: the upper end of the Fetch standard's list of bad ports, and
 * stores that act on single lines of text (Redis, memcached), which an HTTP request could carry.
 */
const refusedPorts: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10080, 11211,
]);

/** True for a port on which a stranger's web server may listen: 80, 443, and 1024 upwards without the refused ones. */
export function isWebPort(port: number): boolean {
  if (port === 80 || port === 443) return true;
  return port >= 1024 && port <= 65_535 && !refusedPorts.has(port);
}
