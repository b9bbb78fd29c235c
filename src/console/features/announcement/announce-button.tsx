import { useQueryClient } from '@tanstack/preact-query';
import type { Me } from '../../api/contract.ts';
import { failureOf } from '../../api/api-problem-and-words.ts';
import { useSend } from '../../api/read-and-send-hooks.ts';
import { useMe } from '../../api/session.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { Segmented, TextArea, TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { Megaphone } from '../../ui/controls/icons.ts';
import { ErrorBox } from '../../ui/feedback/notice-and-error-box.tsx';
import { datetimeLocalValue, useNow } from '../../ui/times-and-durations.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { announcementText } from './announcement-text.ts';

export function AnnounceButton() {
  const { data: me } = useMe();
  return (
    <DialogButton label={announcementText.button} icon={Megaphone}>
      {(close) => <AnnounceDialog announcement={me?.announcement ?? null} onClose={close} />}
    </DialogButton>
  );
}

const minuteMs = 60_000;
const maxLength = 300;
const levels = (['info', 'warning'] as const).map((value) => ({ value, label: announcementText.levels[value] }));

type Props = { readonly announcement: Me['announcement']; readonly onClose: () => void };

function AnnounceDialog({ announcement, onClose }: Props) {
  const endsAt = announcement?.endTime ?? null;
  const { values, field } = useFields({
    text: announcement?.text ?? '',
    level: announcement?.level ?? 'info',
    link: announcement?.link ?? '',
    endTime: endsAt === null ? '' : datetimeLocalValue(endsAt),
  });
  const now = useNow(minuteMs);
  const client = useQueryClient();
  // The banner is part of what is known about the person.
  const showNow = () => void client.invalidateQueries({ queryKey: ['me'] });
  const remove = useSend('/api/admin/v1/announcement/remove', {
    changes: [],
    onDone: () => {
      showNow();
      toast(announcementText.removed);
      onClose();
    },
  });
  return (
    <ActionDialog
      path="/api/admin/v1/announcement"
      title={announcementText.title}
      action={announcementText.publish}
      body={() => ({
        text: values.text.trim(),
        level: values.level,
        ...(values.link.trim() !== '' && { link: values.link.trim() }),
        ...(values.endTime !== '' && { endTime: new Date(values.endTime).getTime() }),
      })}
      changes={[]}
      done={announcementText.published}
      onDone={showNow}
      onClose={onClose}
    >
      <p class="soft">{announcementText.help}</p>
      <TextArea
        label={announcementText.text}
        count={announcementText.left(maxLength - values.text.length)}
        required
        maxLength={maxLength}
        rows={3}
        {...field('text')}
      />
      <Segmented label={announcementText.level} options={levels} {...field('level')} />
      <TextField label={announcementText.link} hint={announcementText.linkHint} type="url" {...field('link')} />
      <TextField
        label={announcementText.ends}
        hint={announcementText.endsHint}
        type="datetime-local"
        // The field names whole minutes, and the current one has begun.
        min={datetimeLocalValue(now + minuteMs)}
        {...field('endTime')}
      />
      {remove.error !== null && <ErrorBox failure={failureOf(remove.error)} />}
      {announcement !== null && (
        <div class="row">
          <Button
            size="small"
            variant="danger"
            busy={remove.isPending}
            onClick={() => remove.mutate({}, { onError: showNow })}
          >
            {announcementText.remove}
          </Button>
        </div>
      )}
    </ActionDialog>
  );
}
