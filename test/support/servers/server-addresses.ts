// The servers that all test files share: the test runner starts them once and passes their addresses on.

/** Address of a PostgreSQL server whose user may create databases. */
export function postgresUrl(): Promise<string> {
  return Promise.resolve(fromRunner('VIDEOGEN_TEST_POSTGRES'));
}

/** host:port of a Temporal server with the namespace `default`. */
export function temporalAddress(): string {
  return fromRunner('VIDEOGEN_TEST_TEMPORAL');
}

function fromRunner(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: start the tests with "npm test"`);
  return value;
}
