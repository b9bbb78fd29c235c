import { useRead, useSend } from '../../api/read-and-send-hooks.ts';
import { useMe } from '../../api/session.ts';
import { Button } from '../../ui/controls/button.tsx';
import { TextField } from '../../ui/forms/form-fields.tsx';
import { Form, useFields } from '../../ui/forms/form.tsx';
import { Card } from '../../ui/page-card-facts-and-tiles.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { PersonalPage } from './personal-page-frame.tsx';
import { Passkeys } from './passkeys.tsx';
import { securityText } from './security-text.ts';
import { Sessions } from './sessions.tsx';

/** The ways in of a person, and their sessions. */
export function SecurityPage() {
  const { data: me } = useMe();
  const { data: options } = useRead('/api/console/v1/options', {});
  return (
    <PersonalPage lead={securityText.lead(me?.user.email ?? '')}>
      {options?.passwordSignIn !== false && <PasswordCard />}
      {options?.passkeys === true && <Passkeys />}
      <Sessions />
    </PersonalPage>
  );
}

const text = securityText.password;
const empty = { currentPassword: '', newPassword: '' };

function PasswordCard() {
  const { data: me } = useMe();
  const { values, field, setValues } = useFields(empty);
  const change = useSend('/api/console/v1/password', {
    changes: ['/api/console/v1/sessions'],
    onDone: () => {
      setValues(empty);
      toast(text.changed);
    },
  });
  return (
    <Card title={text.title}>
      <Form class="stack narrow" submission={change} onSubmit={() => change.mutate(values)}>
        <input type="email" name="email" autocomplete="username" value={me?.user.email ?? ''} hidden readOnly />
        <TextField
          label={text.current}
          type="password"
          autocomplete="current-password"
          required
          {...field('currentPassword')}
        />
        <TextField
          label={text.new}
          type="password"
          autocomplete="new-password"
          hint={text.hint}
          required
          {...field('newPassword')}
        />
        <div class="row">
          <Button type="submit" busy={change.isPending}>
            {text.action}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
