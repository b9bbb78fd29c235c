import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const skipsWithoutOpenssl = hasOpenssl() ? false : 'there is no openssl here, so nothing was tried over TLS';

export type Certificate = { readonly cert: string; readonly key: string };

/** Paths of PEM files, good for a day. */
export type Certificates = {
  readonly ca: string;
  /** An authority that has signed nothing of these. */
  readonly otherCa: string;
  /** Its name is `localhost`. */
  readonly server: Certificate;
  /** Its common name is `clientName`. */
  readonly client: Certificate;
};

/** An authority, a server and a client, as an operator makes them with openssl. */
export function makeCertificates(folder: string, clientName: string): Certificates {
  const authority = makeAuthority(folder, 'ca');
  return {
    ca: authority.cert,
    otherCa: makeAuthority(folder, 'other').cert,
    server: sign(folder, authority, { file: 'server', name: 'localhost', usage: 'serverAuth', host: 'localhost' }),
    client: sign(folder, authority, { file: 'client', name: clientName, usage: 'clientAuth', host: 'client.test' }),
  };
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

function makeAuthority(folder: string, file: string): Certificate {
  const [cert, key] = [join(folder, `${file}.crt`), join(folder, `${file}.key`)];
  openssl('req', '-x509', ...newKey, '-days', '1', '-subj', `/CN=${file} of the tests`, '-keyout', key, '-out', cert);
  return { cert, key };
}

type Wanted = { readonly file: string; readonly name: string; readonly usage: string; readonly host: string };

function sign(folder: string, authority: Certificate, { file, name, usage, host }: Wanted): Certificate {
  const [cert, key] = [join(folder, `${file}.crt`), join(folder, `${file}.key`)];
  const [request, extensions] = [join(folder, `${file}.csr`), join(folder, `${file}.ext`)];
  writeFileSync(extensions, `subjectAltName=DNS:${host}\nextendedKeyUsage=${usage}\nbasicConstraints=CA:FALSE\n`);
  openssl('req', '-new', ...newKey, '-subj', `/CN=${name}`, '-keyout', key, '-out', request);
  const by = ['-CA', authority.cert, '-CAkey', authority.key, '-CAcreateserial', '-extfile', extensions];
  openssl('x509', '-req', '-in', request, '-days', '1', ...by, '-out', cert);
  return { cert, key };
}

function openssl(...args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}

function hasOpenssl(): boolean {
  try {
    openssl('version');
    return true;
  } catch {
    return false;
  }
}
