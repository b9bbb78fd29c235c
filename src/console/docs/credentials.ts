import type { Me } from '../api/contract.ts';
import { headersOf } from '../api/call.ts';

/** The key stays in the tab: it survives a reload, and ends with the tab. */
const storageKey = 'videogen-docs-key';

export type Credentials = {
  /** The fields of the form. */
  readonly element: HTMLElement;
  /** The headers of a request, and whether the cookie goes with it. */
  readonly init: () => Pick<RequestInit, 'headers' | 'credentials'>;
  /** Adds the accounts of a signed-in person to the choice. */
  readonly load: () => Promise<void>;
};

/** The choice between a key and the accounts of the console's session. */
export function createCredentials(): Credentials {
  const choice = document.createElement('select');
  choice.id = 'try-credential';
  choice.className = 'input';
  choice.append(new Option('API key', ''));
  const key = document.createElement('input');
  Object.assign(key, { id: 'try-key', className: 'input', type: 'password', autocomplete: 'off', placeholder: 'vg_…' });
  key.value = sessionStorage.getItem(storageKey) ?? '';
  key.addEventListener('input', () => sessionStorage.setItem(storageKey, key.value.trim()));
  const [choiceField, keyField] = [labelled(choice, 'Send as'), labelled(key, 'API key')];
  const update = () => {
    keyField.hidden = choice.value !== '';
  };
  choice.addEventListener('change', update);
  choiceField.hidden = true;
  const element = document.createElement('div');
  element.className = 'credentials';
  element.append(choiceField, keyField);
  let loaded: Promise<void> | undefined;
  const load = async () => {
    const me = await signedIn();
    if (me === undefined) return;
    const accounts = me.accounts.map(({ accountId, name }) => new Option(`${name}, as ${me.user.email}`, accountId));
    const session = new Option(`Operator, as ${me.user.email}`, 'operator');
    choice.prepend(...accounts, ...(me.user.isOperator ? [session] : []));
    choice.selectedIndex = key.value === '' ? 0 : choice.options.length - 1;
    choiceField.hidden = choice.options.length === 1;
    update();
  };
  return {
    element,
    load: () => (loaded ??= load()),
    init: () => {
      if (choice.value === 'operator') return { headers: headersOf(undefined), credentials: 'same-origin' };
      if (choice.value !== '') return { headers: headersOf(choice.value), credentials: 'same-origin' };
      const value = key.value.trim();
      return { headers: value === '' ? {} : { Authorization: `Bearer ${value}` }, credentials: 'omit' };
    },
  };
}

function labelled(input: HTMLElement, text: string): HTMLElement {
  const field = document.createElement('div');
  field.className = 'field';
  const label = document.createElement('label');
  label.htmlFor = input.id;
  label.textContent = text;
  field.append(label, input);
  return field;
}

/** Undefined without a session. In the background, because reading a page must not keep a session alive. */
async function signedIn(): Promise<Me | undefined> {
  const headers = { ...headersOf(undefined), 'Videogen-Background': '1' };
  const response = await fetch('/api/console/v1/me', { headers }).catch(() => undefined);
  if (response?.ok !== true) return undefined;
  const { data } = (await response.json()) as { readonly data: Me }; // the service's own description has this type
  return data;
}
