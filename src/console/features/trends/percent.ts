const format = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** "92.5%", of a share from 0 to 1, or a dash without any. */
export function percent(share: number | null): string {
  return share === null ? '–' : format.format(share);
}
