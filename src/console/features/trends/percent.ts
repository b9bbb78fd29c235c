const format = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

/** "92.5%", of a share from 0 to 1. */
export function percent(share: number): string {
  return format.format(share);
}
