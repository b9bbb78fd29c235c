import { createCredentials, type Credentials } from './credentials.ts';
import { type Answered, showAnswer, showPrice, showText } from './try-answer.ts';

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
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      answer.textContent = 'Sending…';
      void submit({ panel, form, answer, credentials });
    });
  }
}

type Trial = {
  readonly panel: HTMLElement;
  readonly form: HTMLFormElement;
  readonly answer: HTMLElement;
  readonly credentials: Credentials;
};

async function submit(trial: Trial): Promise<void> {
  const { panel, form, answer, credentials } = trial;
  const request = { ...readForm(form, panel.dataset['path'] ?? ''), method: panel.dataset['method'] ?? 'GET' };
  const { price, charged } = panel.dataset;
  const init = initOf(panel, credentials);
  if (charged === undefined) return showAnswer(answer, await exchange(request, init));
  if (price === undefined)
    return showPrice(answer, undefined, async () => showAnswer(answer, await exchange(request, init)));
  // The same request is checked and priced first, so an invalid one is never charged.
  const quoted = await exchange({ ...request, path: price, headers: { 'Content-Type': 'application/json' } }, init);
  if (quoted.status !== 200) return showAnswer(answer, quoted);
  const { data } = JSON.parse(quoted.text ?? '{}') as { readonly data?: { readonly credits?: number } }; // as the service describes it
  showPrice(answer, data?.credits, async () => showAnswer(answer, await exchange(request, init)));
}

/** Endpoints of the console need its header in any case. */
function initOf(panel: HTMLElement, credentials: Credentials): Pick<RequestInit, 'headers' | 'credentials'> {
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
  const parts = new FormData();
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
    if (where === 'form') parts.append(name, file ?? value);
    if (where === 'json') headers['Content-Type'] = 'application/json';
    if (where === 'file') headers['Content-Type'] = file?.type ?? '';
    if (where === 'json' || where === 'file') body = file ?? value;
    if (where === 'form') body = parts;
  }
  return { path: query.size === 0 ? path : `${path}?${query.toString()}`, headers, body };
}

async function exchange(request: TriedRequest, init: Pick<RequestInit, 'headers' | 'credentials'>): Promise<Answered> {
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
