export type Answered = {
  /** 0 without a response. */
  readonly status: number;
  readonly statusText: string;
  readonly ms: number | undefined;
  readonly requestId: string | undefined;
  readonly text: string | undefined;
  readonly file?: Blob;
};

export function showAnswer(where: HTMLElement, answered: Answered): void {
  const { status, statusText, ms, requestId, text, file } = answered;
  const isGood = status >= 200 && status < 400;
  const badge = make('span', `badge ${isGood ? 'good' : 'bad'}`, `${status === 0 ? '' : status} ${statusText}`.trim());
  const facts = [ms !== undefined && `${ms} ms`, requestId !== undefined && `request ${requestId}`].filter(Boolean);
  const head = make('p', 'status', '');
  head.append(badge, ' ', make('small', 'soft', facts.join(' · ')));
  where.replaceChildren(head, ...(file === undefined ? bodyOf(text) : [fileLink(file)]));
}

/** Replaces an earlier answer, whose file is no longer offered. */
export function showSending(where: HTMLElement): void {
  for (const { href } of where.querySelectorAll('a')) URL.revokeObjectURL(href);
  where.textContent = 'Sending…';
}

/** Shows what the request costs, and sends it only after a second click. */
export function showPrice(where: HTMLElement, credits: number | undefined, send: () => Promise<void>): void {
  const amount = credits === undefined ? 'credits' : `${credits.toLocaleString('en-US')} credits`;
  const text = make('p', '', `The account is charged ${amount} when the task is accepted.`);
  const [confirm, cancel] = [make('button', 'button primary', `Charge ${amount}`), make('button', 'button', 'Cancel')];
  const row = make('div', 'row', '');
  row.append(confirm, cancel);
  confirm.addEventListener('click', () => {
    confirm.setAttribute('disabled', '');
    void send();
  });
  cancel.addEventListener('click', () => where.replaceChildren());
  const box = make('div', 'confirm', '');
  box.append(text, row);
  where.replaceChildren(box);
  confirm.focus();
}

/** JSON is indented; other text stays as it is. */
export function showText(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

function bodyOf(text: string | undefined): readonly Node[] {
  if (text === undefined || text === '') return [];
  const code = make('pre', '', text);
  code.tabIndex = 0;
  code.setAttribute('role', 'group');
  code.setAttribute('aria-label', 'Response body');
  const block = make('div', 'code', '');
  block.append(code);
  return [block];
}

function fileLink(file: Blob): Node {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'response';
  link.textContent = `Save the file (${file.type}, ${file.size.toLocaleString('en-US')} bytes)`;
  return link;
}

function make(name: string, className: string, text: string): HTMLElement {
  const element = document.createElement(name);
  if (className !== '') element.className = className;
  element.textContent = text;
  if (element instanceof HTMLButtonElement) element.type = 'button';
  return element;
}
