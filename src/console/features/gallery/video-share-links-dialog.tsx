import { useState } from 'preact/hooks';
import type { ShareLink } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { CheckField, Segmented, TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { ReadErrorBox } from '../../ui/feedback/loaded-or-read-error.tsx';
import { ImmediateActionButton } from '../../ui/forms/immediate-action-button.tsx';
import { SecretShownOnceDialog } from '../../ui/forms/secret-shown-once-dialog.tsx';
import { dayMs, ExactTime, datetimeLocalValue, useNow } from '../../ui/times-and-durations.tsx';
import { galleryText } from './gallery-text.ts';

const minuteMs = 60_000;

const expiries = ['1', '7', '30', 'date'] as const;
type Expiry = (typeof expiries)[number];

const options = expiries.map((value) => ({ value, label: galleryText.days[value] }));

/** Creates a link to the page of one video, and revokes earlier ones. */
export function VideoShareLinksDialog({ taskId, onClose }: { readonly taskId: string; readonly onClose: () => void }) {
  const { values, field } = useFields({ title: '', day: '' });
  const [expiry, setExpiry] = useState<Expiry>('7');
  const [showsAccountName, setShowsAccountName] = useState(false);
  const endOfDay = expiry === 'date' && values.day !== '' ? new Date(`${values.day}T23:59:59`).getTime() : undefined;
  const title = values.title.trim();
  const now = useNow(minuteMs);
  return (
    <ActionDialog
      path="/api/v1/gallery/share"
      title={galleryText.shareTitle}
      action={galleryText.createLink}
      changes={['/api/v1/gallery/shareLinks']}
      body={() => ({
        taskId,
        showsAccountName,
        expireTime: expiry === 'date' ? endOfDay : Date.now() + Number(expiry) * dayMs,
        ...(title !== '' && { title }),
      })}
      disabledReason={expiry === 'date' && endOfDay === undefined ? galleryText.chooseDay : undefined}
      result={({ url }) => (
        <SecretShownOnceDialog title={galleryText.linkTitle} what={galleryText.shareLink} text={url} onClose={onClose}>
          {galleryText.linkNext}
        </SecretShownOnceDialog>
      )}
      onClose={onClose}
    >
      <p class="soft">{galleryText.shareEffect}</p>
      <TextField
        label={galleryText.titleField}
        hint={galleryText.titleHint}
        maxLength={120}
        autocomplete="off"
        {...field('title')}
      />
      <CheckField
        label={galleryText.showsAccount}
        name="showsAccountName"
        isChecked={showsAccountName}
        onValue={setShowsAccountName}
      />
      <Segmented
        label={galleryText.expiry}
        value={expiry}
        options={options}
        onValue={setExpiry}
        {...(expiry !== 'date' && { name: 'expireTime' })}
      />
      {expiry === 'date' && (
        <TextField
          label={galleryText.lastDay}
          type="date"
          min={datetimeLocalValue(now).slice(0, 10)}
          max={datetimeLocalValue(now + 365 * dayMs).slice(0, 10)}
          {...field('day')}
          name="expireTime"
        />
      )}
      <ActiveLinks taskId={taskId} />
    </ActionDialog>
  );
}

function ActiveLinks({ taskId }: { readonly taskId: string }) {
  const read = useRead('/api/v1/gallery/shareLinks', { taskId });
  const links: readonly ShareLink[] = read.data?.links ?? [];
  if (links.length === 0) return <ReadErrorBox of={read} />;
  return (
    <section class="stack tight" aria-label={galleryText.links}>
      <h3>{galleryText.links}</h3>
      <ul class="stack tight">
        {links.map(({ linkId, title, expireTime }) => (
          <li key={linkId} class="row apart">
            <span>
              {title ?? galleryText.untitled}
              <span class="under">
                {galleryText.expires} <ExactTime ms={expireTime} />
              </span>
            </span>
            <ImmediateActionButton
              path="/api/v1/gallery/revokeLink"
              body={{ linkId }}
              done={galleryText.revoked}
              size="small"
              variant="danger"
              aria-label={galleryText.revokeOf(title ?? galleryText.untitled)}
            >
              {galleryText.revoke}
            </ImmediateActionButton>
          </li>
        ))}
      </ul>
    </section>
  );
}
