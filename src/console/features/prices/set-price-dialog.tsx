import { useState } from 'preact/hooks';
import type { Account } from '../../api/contract.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { Segmented, TextField } from '../../ui/forms/form-fields.tsx';
import { useFields } from '../../ui/forms/form.tsx';
import { creditPriceWords } from '../../ui/number-formats.tsx';
import { formatExactTime } from '../../ui/times-and-durations.tsx';
import { auditReasonHint } from '../audit/audit-reason-hint.ts';
import { currentAndAnnouncedAmounts, type PriceWithModel } from './price-names-and-amounts.tsx';
import { pricesText } from './prices-text.ts';

type SetProps = {
  readonly line: PriceWithModel;
  readonly account: Pick<Account, 'accountId' | 'name'> | undefined;
  readonly onClose: () => void;
};

const starts = (['now', 'later'] as const).map((value) => ({ value, label: pricesText[value] }));
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const whole = { type: 'number', min: 0, step: 1, required: true } as const;

/** Sets a price from now on or from a later time on, or ends the prices that were set. */
export function SetPriceDialog({ line: { model, title, price, isOnly }, account, onClose }: SetProps) {
  const [{ current }] = useState(() => currentAndAnnouncedAmounts(price, Date.now()));
  const [kind, setKind] = useState<'price' | 'end'>('price');
  const [start, setStart] = useState<'now' | 'later'>('now');
  const { values, field } = useFields({
    creditsPerSecond: String(current?.creditsPerSecond ?? 0),
    creditsPerVideo: String(current?.creditsPerVideo ?? 0),
    fromTime: '',
  });
  const amounts = {
    creditsPerSecond: Number(values.creditsPerSecond),
    creditsPerVideo: Number(values.creditsPerVideo),
  };
  const end = account === undefined ? pricesText.cataloguePrice : pricesText.listPrice;
  const kinds = [
    { value: 'price', label: account === undefined ? pricesText.newPrice : pricesText.customPrice },
    { value: 'end', label: end },
  ] as const;
  return (
    <ActionDialog
      path="/api/admin/v1/prices/set"
      title={pricesText.setTitle(title, isOnly ? undefined : price.name)}
      action={start === 'now' ? pricesText.set : pricesText.announce}
      reason={auditReasonHint}
      body={(reason) => ({
        model,
        priceName: price.name,
        ...(kind === 'end' ? { creditsPerSecond: null, creditsPerVideo: null } : amounts),
        accountId: account?.accountId ?? null,
        fromTime: start === 'now' ? null : Date.parse(values.fromTime),
        reason,
      })}
      done={({ fromTime }) => pricesText.done(formatExactTime(fromTime))}
      onClose={onClose}
    >
      <p class="soft">
        {pricesText.setFor(
          account?.name ?? pricesText.everyAccount,
          kind === 'end' ? end.toLowerCase() : creditPriceWords(amounts),
        )}
      </p>
      <Segmented label={pricesText.price} value={kind} options={kinds} onValue={setKind} />
      {kind === 'price' && (
        <div class="amounts">
          <TextField label={pricesText.perSecond} {...whole} {...field('creditsPerSecond')} />
          <TextField label={pricesText.perVideo} {...whole} {...field('creditsPerVideo')} />
        </div>
      )}
      <Segmented label={pricesText.starts} value={start} options={starts} onValue={setStart} />
      {start === 'later' && (
        <TextField
          label={pricesText.time}
          type="datetime-local"
          hint={pricesText.timeHint(zone)}
          required
          {...field('fromTime')}
        />
      )}
    </ActionDialog>
  );
}
