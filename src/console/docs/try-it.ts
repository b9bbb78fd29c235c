import { randomKey } from '../api/random-key.ts';
import { createCredentials, type Credentials } from './credentials.ts';
import { type Answered, showAnswer, showPrice, showSending, showText } from './try-answer.ts';

/** Sends the requests of the forms under "Try it". One field for the credential moves to the form in use. */
export function startTrying(): void {
  const credentials = createCredentials();
  for (const panel of document.querySelectorAll<HTMLDetailsElement>('details.try')) {
    const form = panel.querySelector('form');
    const answer = panel.querySelector<HTMLElement>('.answer');
    if (form === null || answer === null) continue;
    const bring = () => {
      if (panel.dataset['access'] === 'none') return;
      form.prepend(credentials.element);
      void credentials.load();
    };
    panel.addEventListener('toggle', () => panel.open && bring());
    form.addEventListener('focusin', () => credentials.element.parentElement !== form && bring());
    const trial: Trial = { panel, form, answer, credentials, isPending: false, key: randomKey() };
    // Another request is not a repeat of the one before.
    form.addEventListener('input', () => (trial.key = randomKey()));
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      if (trial.isPending) return;
      showSending(answer);
      void whilePending(trial, () => submit(trial));
    });
  }
}

type Trial = {
  readonly panel: HTMLElement;
  readonly form: HTMLFormElement;
  readonly answer: HTMLElement;
  readonly credentials: Credentials;
  isPending: boolean;
  /** The Idempotency-Key of creates. It stays until there is a response, so that a repeat without one is charged once. */
  key: string;
};

/** One request of a form at a time: a second click would send it twice, and an earlier response could replace a later one. */
async function whilePending(trial: Trial, work: () => Promise<void>): Promise<void> {
  const button = trial.form.querySelector('button[type="submit"]');
  const show = (isPending: boolean) => {
    trial.isPending = isPending;
    button?.setAttribute('aria-disabled', String(isPending));
  };
  show(true);
  await work().finally(() => show(false));
}

async function submit(trial: Trial): Promise<void> {
  const { panel, form, answer, credentials } = trial;
  const request = { ...readForm(form, panel.dataset['path'] ?? ''), method: panel.dataset['method'] ?? 'GET' };
  const { price, charged } = panel.dataset;
  const init = initOf(panel, credentials);
  if (charged === undefined) return showAnswer(answer, await exchange(request, init));
  const keyed = { ...request, headers: { 'Idempotency-Key': trial.key, ...request.headers } };
  const create = () => whilePending(trial, () => sendCreate(trial, keyed, init));
  if (price === undefined) return showPrice(answer, undefined, create);
  // The same request is checked and priced first, so an invalid one is never charged.
  const quoted = await exchange({ ...request, path: price, headers: { 'Content-Type': 'application/json' } }, init);
  if (quoted.status !== 200) return showAnswer(answer, quoted);
  const { data } = JSON.parse(quoted.text ?? '{}') as { readonly data?: { readonly credits?: number } }; // as the service describes it
  showPrice(answer, data?.credits, create);
}

async function sendCreate(trial: Trial, request: TriedRequest, init: RequestOptions): Promise<void> {
  const answered = await exchange(request, init);
  // After a failure of the service the task may exist.
  if (answered.status !== 0 && answered.status < 500) trial.key = randomKey();
  showAnswer(trial.answer, answered);
}

type RequestOptions = Pick<RequestInit, 'headers' | 'credentials'>;

/** Endpoints of the console need its header in any case. */
function initOf(panel: HTMLElement, credentials: Credentials): RequestOptions {
  const isOfConsole = panel.dataset['path']?.startsWith('/api/console/') === true;
  const { headers, ...init } = panel.dataset['access'] === 'none' ? { headers: {} } : credentials.init();
  return {
    ...init,
    headers: { ...(isOfConsole && { 'Videogen-Console': '1' }), ...(headers as Record<string, string>) },
  };
}

type TriedRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: BodyInit | undefined;
};

function readForm(form: HTMLFormElement, template: string): Omit<TriedRequest, 'method'> {
  const headers: Record<string, string> = {};
  const query = new URLSearchParams();
  let path = template;
  let body: BodyInit | undefined;
  for (const input of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>('[data-in]')) {
    const [file] = ('files' in input && input.files) || [];
    const { value, name } = input;
    if (value === '') continue;
    const where = input.dataset['in'];
    if (where === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (where === 'query') query.append(name, value);
    if (where === 'header') headers[name] = value;
    if (where === 'json') headers['Content-Type'] = 'application/json';
    if (where === 'file') headers['Content-Type'] = file?.type ?? '';
    if (where === 'json' || where === 'file') body = file ?? value;
  }
  return { path: query.size === 0 ? path : `${path}?${query.toString()}`, headers, body };
}

async function exchange(request: TriedRequest, init: RequestOptions): Promise<Answered> {
  const { method, path, headers, body } = request;
  const started = performance.now();
  const all = { ...(init.headers as Record<string, string>), ...headers }; // made above, of plain objects
  const response = await fetch(path, { ...init, method, headers: all, ...(body !== undefined && { body }) }).catch(
    () => undefined,
  );
  if (response === undefined)
    return { status: 0, statusText: 'no response', ms: undefined, requestId: undefined, text: undefined };
  const type = response.headers.get('Content-Type') ?? '';
  const isText = /json|text|xml/.test(type) || type === '';
  return {
    status: response.status,
    statusText: response.statusText,
    ms: Math.round(performance.now() - started),
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    ...(isText ? { text: showText(await response.text()) } : { text: undefined, file: await response.blob() }),
  };
}
