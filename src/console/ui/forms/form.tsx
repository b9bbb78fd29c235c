import { type ComponentChildren, createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, failureOf } from '../../api/api-problem-and-words.ts';
import { ErrorBox } from '../feedback/notice-and-error-box.tsx';

type FormState = {
  readonly errors: Readonly<Record<string, string>>;
  /** A field that shows the error of this path; returns how to give it up. */
  readonly claim: (path: string) => () => void;
};

const FormContext = createContext<FormState>({ errors: {}, claim: () => () => undefined });

/** The error of the field of this path, in the form around it. */
export function useClaimedFieldError(path: string | undefined): string | undefined {
  const { errors, claim } = useContext(FormContext);
  useLayoutEffect(() => (path === undefined ? undefined : claim(path)), [path, claim]);
  return path === undefined ? undefined : Object.entries(errors).find(([at]) => isPathWithin(at, path))?.[1];
}

/** An error of `input.imageUrls[0]` is within `input.imageUrls`. */
export function isPathWithin(at: string, path: string): boolean {
  return at === path || at.startsWith(`${path}[`) || at.startsWith(`${path}.`);
}

type FormProps = {
  /** The mutation that submits it, from `useSend` or `useSudoAction`. */
  readonly submission: { readonly isPending: boolean; readonly error: ApiProblem | null };
  readonly onSubmit: () => void;
  readonly class?: string;
  readonly children: ComponentChildren;
};

/**
 * A form whose fields show their own errors by `name`; every other error stands above them. The first invalid field takes the focus,
 * which reads its error out.
 */
export function Form({ submission, onSubmit, class: name = 'stack', children }: FormProps) {
  const { isPending, error } = submission;
  const form = useRef<HTMLFormElement>(null);
  const submitted = useRef<object>();
  const { current: claimed } = useRef(new Map<string, number>());
  const claim = useRef((path: string) => {
    claimed.set(path, (claimed.get(path) ?? 0) + 1);
    return () => void claimed.set(path, (claimed.get(path) ?? 1) - 1);
  }).current;
  const errors = error?.errors ?? {};
  const unclaimed = Object.entries(errors).filter(
    ([at]) => ![...claimed].some(([path, count]) => count > 0 && isPathWithin(at, path)),
  );
  const isShownByFields = Object.keys(errors).length > 0 && unclaimed.length === 0;
  useEffect(() => {
    // A group of radio buttons is invalid as a whole, but only its buttons take the focus.
    const invalid = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    (invalid?.querySelector('input') ?? invalid)?.focus();
  }, [error]);
  return (
    <FormContext.Provider value={{ errors, claim }}>
      <form
        ref={form}
        class={name}
        onSubmit={(event) => {
          event.preventDefault();
          // It is pending from the next render on; a second press of Enter may come before.
          if (isPending || submitted.current === submission) return;
          submitted.current = submission;
          onSubmit();
        }}
      >
        {error !== null && !isShownByFields && <ErrorBox failure={failureOf(error, unclaimed)} />}
        {children}
      </form>
    </FormContext.Provider>
  );
}

/** The values of a form, and the properties that tie a field to one of them. */
export function useFields<Values extends Readonly<Record<string, string>>>(initial: Values) {
  const [values, setValues] = useState(initial);
  const field = <Name extends keyof Values & string>(name: Name) => ({
    name,
    value: values[name],
    onValue: (value: Values[Name]) => setValues((before) => ({ ...before, [name]: value })),
  });
  return { values, field, setValues };
}
