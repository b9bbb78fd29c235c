import { errorCode, messageOf } from '../../domain/errors.ts';

const reach = 'Check host and port in DATABASE_URL, that PostgreSQL runs there, and that no firewall is between.';
const trust = 'Name the certificate of its authority: DATABASE_URL=…?sslmode=verify-full&sslrootcert=/path/ca.crt';

/** By the codes of PostgreSQL, of the system and of TLS. */
const remedies: Readonly<Record<string, string>> = {
  '28P01': 'Correct user and password in DATABASE_URL.',
  '28000': 'Correct the user in DATABASE_URL, or let it in: pg_hba.conf, or a client certificate (sslcert, sslkey).',
  '3D000': 'Create the database, with this user as its owner.',
  '42501': 'Give the user the right to connect: GRANT CONNECT ON DATABASE … TO …;',
  '53300': 'Raise max_connections of PostgreSQL, or lower DATABASE_POOL_SIZE.',
  '57P03': 'Wait until PostgreSQL has started.',
  ENOENT: 'Correct sslrootcert, sslcert and sslkey in DATABASE_URL: they are paths of files on this machine.',
  EACCES: 'Let this account read the files of sslrootcert, sslcert and sslkey.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use in DATABASE_URL a host name that stands in the certificate of the server.',
  CERT_HAS_EXPIRED: 'Renew the certificate of the server.',
  SELF_SIGNED_CERT_IN_CHAIN: trust,
  DEPTH_ZERO_SELF_SIGNED_CERT: trust,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: trust,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: trust,
  UNABLE_TO_GET_ISSUER_CERT: trust,
  CERT_SIGNATURE_FAILURE: trust,
};

const byWords: readonly (readonly [RegExp, string])[] = [
  [/does not support SSL/, 'Turn TLS on in PostgreSQL (ssl = on), or take sslmode out of DATABASE_URL.'],
  [
    /alert|certificate required|handshake/i,
    'The server wants a client certificate: sslcert and sslkey in DATABASE_URL.',
  ],
];

/** Whether the database was not reached, or let nobody in: a fault of the way there, and not of what was asked. */
export function isConnectionFault(error: unknown): boolean {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = errorCode(cause) ?? '';
  if (code === '') return /timeout|terminated|connection|SSL/i.test(messageOf(cause));
  return remedies[code] !== undefined || !/^[0-9A-Z]{5}$/.test(code) || /^(08|53|57)/.test(code);
}

/** What is wrong with the way to the database, and how it is mended. */
export function databaseFault(error: unknown): { readonly message: string; readonly remedy: string } {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const message = messageOf(error);
  const code = errorCode(cause) ?? '';
  const known = remedies[code] ?? byWords.find(([words]) => words.test(messageOf(cause)))?.[1];
  return { message: message.includes(code) || code === '' ? message : `${message} (${code})`, remedy: known ?? reach };
}
