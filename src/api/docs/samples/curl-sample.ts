import type { SampleCredential, ExampleBody, ExampleRequest } from './example-request.ts';

const longestLine = 72;

/** Writes the request for Bash, where an environment variable holds the credential. */
export function curlSample({ method, baseUrl, path, headers, credential, body, answer }: ExampleRequest): string {
  // Without `-X`, curl chooses GET, or POST for a request with a body.
  const implied = body === undefined ? 'GET' : 'POST';
  const options = [
    ...(method === implied ? [] : [`-X ${method}`]),
    ...credentialOptions[credential],
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : bodyOptions(body)),
    ...(answer === 'file' ? ['-L -o video.mp4'] : []),
  ];
  return [`curl ${quoted(baseUrl + path)}`, ...options].join(' \\\n  ');
}

const credentialOptions: Readonly<Record<SampleCredential, readonly string[]>> = {
  none: [],
  key: ['-H "Authorization: Bearer $VIDEOGEN_API_KEY"'],
  operator_key: ['-H "Authorization: Bearer $VIDEOGEN_OPERATOR_KEY"'],
  cookie: ['-H "Cookie: $VIDEOGEN_COOKIE"', "-H 'Videogen-Account: ACCOUNT_ID'"],
};

function bodyOptions(body: ExampleBody): readonly string[] {
  if (body.kind === 'json') {
    const short = JSON.stringify(body.value);
    const text = short.length > longestLine ? JSON.stringify(body.value, undefined, 2) : short;
    return ["-H 'Content-Type: application/json'", `-d ${quoted(text)}`];
  }
  return [`-H ${quoted(`Content-Type: ${body.type}`)}`, `--data-binary @${body.fileName}`];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
