import { icon } from '../../ui/icon.ts';

// Icons that only these pages use; see ui/icons.ts for their origin and license.

export const ArrowRight = icon(['path', { d: 'M5 12h14' }], ['path', { d: 'm12 5 7 7-7 7' }]);
export { Clapperboard } from '../../ui/icons.ts';
export { LayoutGrid } from '../../ui/icons.ts';
export { SearchX } from '../../ui/icons.ts';
