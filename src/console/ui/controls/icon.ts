import { type FunctionComponent, h } from 'preact';

type IconProps = {
  readonly size?: number;
  readonly 'aria-hidden'?: 'true';
  readonly 'aria-label'?: string;
};
export type Icon = FunctionComponent<IconProps>;

/** A line icon in the color of the text. It is decoration for screen readers unless it has a label. */
export function icon(d: string): Icon {
  return ({ size = 24, ...attributes }) =>
    h(
      'svg',
      {
        xmlns: 'http://www.w3.org/2000/svg',
        width: size,
        height: size,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        'stroke-width': 2,
        'stroke-linecap': 'round',
        'stroke-linejoin': 'round',
        ...(attributes['aria-label'] === undefined && { 'aria-hidden': 'true' }),
        ...attributes,
      },
      h('path', { d }),
    );
}
