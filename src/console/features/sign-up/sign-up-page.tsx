import { useState } from 'preact/hooks';
import { brand } from '../../api/page-brand.ts';
import { useRead, useSend } from '../../api/read-and-send-hooks.ts';
import { signInPaths } from '../../paths.ts';
import { SignedOutFrame, SignedOutLoadingOrError } from '../../shell/signed-out-frame.tsx';
import { Button, LinkButton } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { signUpText as text } from './sign-up-text.ts';

/** Requests the link that opens an account. The page shows the same whether the address is registered or not. */
export function SignUpPage() {
  const read = useRead('/api/console/v1/options', {});
  const options = read.data;
  const [sentTo, setSentTo] = useState<string>();
  if (options === undefined) return <SignedOutLoadingOrError of={read} title={text.title} />;
  if (options.signUp === 'off') {
    return (
      <SignedOutFrame title={text.off} lead={text.offAdvice}>
        <SignInLink />
      </SignedOutFrame>
    );
  }
  if (sentTo !== undefined) {
    return (
      <SignedOutFrame title={text.sent}>
        <div class="stack">
          <Notice title={text.sentNotice(sentTo)} text={text.sentAdvice} />
          <Button size="wide" onClick={() => setSentTo(undefined)}>
            {text.another}
          </Button>
        </div>
      </SignedOutFrame>
    );
  }
  return (
    <SignedOutFrame title={text.title} lead={text.lead}>
      <RequestForm needsCode={options.signUp === 'code'} onSent={setSentTo} />
      <SignInLink />
    </SignedOutFrame>
  );
}

function SignInLink() {
  return (
    <LinkButton href={signInPaths.signIn} size="wide" variant="quiet">
      {text.signIn}
    </LinkButton>
  );
}

type RequestProps = { readonly needsCode: boolean; readonly onSent: (email: string) => void };

function RequestForm({ needsCode, onSent }: RequestProps) {
  const { values, field } = useFields({ email: '', code: '' });
  const email = values.email.trim();
  const request = useSend('/api/console/v1/sign-up', { changes: [] });
  return (
    <Form
      submission={request}
      // The field may hold another address when the response arrives.
      onSubmit={() =>
        request.mutate({ email, ...(needsCode && { code: values.code.trim() }) }, { onSuccess: () => onSent(email) })
      }
    >
      <TextField label={text.email} type="email" autocomplete="username" required {...field('email')} />
      {needsCode && <TextField label={text.code} autocomplete="off" required {...field('code')} />}
      <Button variant="primary" size="wide" type="submit" busy={request.isPending}>
        {text.submit}
      </Button>
      {brand.terms !== undefined && (
        <p class="faint">
          <small>
            {text.agree} <a href={brand.terms}>{text.terms}</a>.
          </small>
        </p>
      )}
    </Form>
  );
}
