import { ChartColumn } from 'lucide-preact';
import { opsPaths } from '../../paths.ts';
import type { NavLink } from '../../shell/nav.ts';

/** The sidebar of the operators, in reading order. */
export const operatorLinks: readonly NavLink[] = [{ href: opsPaths.overview, label: 'Overview', icon: ChartColumn }];
