import { Page } from '../../ui/page.tsx';
import { PriceTables } from './price-tables.tsx';

export function PricesPage() {
  return (
    <Page
      title="Prices"
      lead="What a second of each model costs accounts that have no price of their own. A task keeps the price of its creation."
    >
      <PriceTables />
    </Page>
  );
}
