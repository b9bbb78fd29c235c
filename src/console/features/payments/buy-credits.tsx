import { useState } from 'preact/hooks';
import type { Answer } from '../../api/call.ts';
import { brand } from '../../api/page-brand.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useIsOwner } from '../../api/session.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { Badge } from '../../ui/controls/badge-and-state-dot.tsx';
import { Dialog, DialogButton } from '../../ui/forms/dialog.tsx';
import { CreditCard } from '../../ui/controls/icons.ts';
import { formatCredits, formatMinorUnits } from '../../ui/number-formats.tsx';
import { Notice } from '../../ui/feedback/notice-and-error-box.tsx';
import { paymentsText } from './payments-text.ts';
import './payments.css';

type Sale = Answer<'/api/console/v1/credits/packages'>;
type Package = Sale['packages'][number];

/** The packages for sale; undefined while they are loaded. */
export function useCreditPackages(): Sale | undefined {
  return useRead('/api/console/v1/credits/packages', {}).data;
}

/** Owners buy credits; nothing is shown while none are for sale. */
export function BuyCreditsButton() {
  const sale = useCreditPackages();
  const isOwner = useIsOwner();
  if (!isOwner || sale === undefined) return null;
  if (sale.packages.length === 0) {
    // Sold elsewhere, if the settings name a page.
    if (brand.buyCredits === undefined) return null;
    return (
      <a class="button primary" href={brand.buyCredits} target="_blank" rel="noopener">
        {paymentsText.buy}
      </a>
    );
  }
  return (
    <DialogButton label={paymentsText.buy} icon={CreditCard} variant="primary">
      {(close) => <BuyDialog sale={sale} onClose={close} />}
    </DialogButton>
  );
}

function BuyDialog({ sale, onClose }: { readonly sale: Sale; readonly onClose: () => void }) {
  const { packages, isTest } = sale;
  const [chosen, setChosen] = useState(packages[0]?.package ?? '');
  const price = packages.find((one) => one.package === chosen)?.price;
  return (
    <ActionDialog
      path="/api/console/v1/credits/top-ups"
      title={paymentsText.buy}
      action={
        price === undefined
          ? paymentsText.buy
          : paymentsText.continue(formatMinorUnits(price.minorUnits, price.currency))
      }
      body={() => ({ package: chosen })}
      changes={['/api/console/v1/credits/top-ups']}
      onDone={({ checkoutUrl }) => location.assign(checkoutUrl)}
      result={({ checkoutUrl }) => <Leaving checkoutUrl={checkoutUrl} onClose={onClose} />}
      isWide
      onClose={onClose}
    >
      {isTest && <TestModeNotice />}
      <fieldset class="packages">
        <legend class="visually-hidden">{paymentsText.packages}</legend>
        {packages.map((offer) => (
          <PackageCard
            key={offer.package}
            offer={offer}
            saving={savingOf(offer, packages)}
            isChosen={offer.package === chosen}
            onChoose={() => setChosen(offer.package)}
          />
        ))}
      </fieldset>
      <p class="soft">{paymentsText.buyLead}</p>
    </ActionDialog>
  );
}

export function TestModeNotice() {
  return <Notice tone="warn" title={paymentsText.testTitle} text={paymentsText.testLead} />;
}

type CardProps = {
  readonly offer: Package;
  readonly saving: number;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
};

function PackageCard({ offer, saving, isChosen, onChoose }: CardProps) {
  const { package: name, title, credits: amount, price } = offer;
  return (
    <label class="option package">
      <input type="radio" name="package" value={name} checked={isChosen} onChange={onChoose} />
      <span class="row">
        <bdi class="title">{title}</bdi>
        {saving > 0 && <Badge tone="good">{paymentsText.save(saving)}</Badge>}
      </span>
      <strong class="number">{formatCredits(amount)}</strong>
      <span class="price">{formatMinorUnits(price.minorUnits, price.currency)}</span>
      <small class="soft">
        {paymentsText.perThousand(formatMinorUnits((price.minorUnits / amount) * 1000, price.currency))}
      </small>
    </label>
  );
}

/** The percentage that a credit of this package costs less than the dearest one in the same currency. */
function savingOf(offer: Package, packages: readonly Package[]): number {
  const perCredit = ({ price, credits: amount }: Package) => price.minorUnits / amount;
  const comparable = packages.filter(({ price }) => price.currency === offer.price.currency);
  const [own, dearest] = [perCredit(offer), Math.max(...comparable.map(perCredit))];
  // Quotients of whole numbers may lie a little below a whole percentage.
  return Math.floor((100 * (dearest - own)) / dearest + 1e-9);
}

/** The page stays until the browser has loaded the checkout. */
function Leaving({ checkoutUrl, onClose }: { readonly checkoutUrl: string; readonly onClose: () => void }) {
  return (
    <Dialog title={paymentsText.opening} onClose={onClose}>
      <div class="body">
        <p role="status">
          {paymentsText.openingLead} <a href={checkoutUrl}>{paymentsText.openingLink}</a>
        </p>
      </div>
    </Dialog>
  );
}
