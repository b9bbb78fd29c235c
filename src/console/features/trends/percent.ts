export const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });
