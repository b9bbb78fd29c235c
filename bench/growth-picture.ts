/** A line of the picture: milliseconds, one value for each size. */
export type Line = { readonly name: string; readonly values: readonly number[] };

const [width, height] = [760, 420];
const area = { left: 70, right: width - 40, top: 62, bottom: height - 56 };
const colours = ['#0b6e4f', '#1d4e89', '#b3541e'];

/**
 * Draws milliseconds over thousands of tasks, both logarithmic, as a standalone
 * SVG.
 */
export function growthPicture(thousands: readonly number[], lines: readonly Line[]): string {
  const values = lines.flatMap((line) => line.values).filter((value) => value > 0);
  const [lowest, highest] = [decade(Math.floor, Math.min(...values)), decade(Math.ceil, Math.max(...values))];
  const x = (size: number) =>
    place(size, Math.min(...thousands), Math.max(...thousands), area.left + 30, area.right - 40);
  const y = (ms: number) => place(ms, lowest, highest, area.bottom, area.top);
  const powers = Array.from({ length: 1 + Math.log10(highest / lowest) }, (_, index) => lowest * 10 ** index);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#222">
<title>What one client waits for as the database grows: medians</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="20" y="28" font-size="16" font-weight="600">What one client waits for as the database grows: medians</text>
${powers.map((ms) => gridLine(y(ms), `${ms.toLocaleString('en')} ms`)).join('\n')}
${thousands.map((size) => sizeLabel(x(size), `${size.toLocaleString('en')},000`)).join('\n')}
<text x="${(area.left + area.right) / 2}" y="${height - 12}" text-anchor="middle">tasks in the database</text>
${lines.map((line, index) => drawn(line, colours[index % colours.length] ?? '#222', { thousands, x, y })).join('\n')}
</svg>
`;
}

function decade(round: (value: number) => number, value: number): number {
  return 10 ** round(Math.log10(value));
}

function place(value: number, lowest: number, highest: number, from: number, to: number): number {
  return Math.round(from + ((to - from) * Math.log(value / lowest)) / Math.log(highest / lowest));
}

function gridLine(y: number, label: string): string {
  const line = `<line x1="${area.left}" x2="${area.right}" y1="${y}" y2="${y}" stroke="#ddd"/>`;
  return `${line}<text x="${area.left - 8}" y="${y + 4}" text-anchor="end">${label}</text>`;
}

function sizeLabel(x: number, label: string): string {
  const line = `<line x1="${x}" x2="${x}" y1="${area.bottom}" y2="${area.bottom + 5}" stroke="#999"/>`;
  return `${line}<text x="${x}" y="${area.bottom + 20}" text-anchor="middle">${label}</text>`;
}

type Scales = {
  readonly thousands: readonly number[];
  readonly x: (size: number) => number;
  readonly y: (ms: number) => number;
};

/** A white outline separates letters from the lines behind them. */
const halo = 'stroke="#fff" stroke-width="4" paint-order="stroke"';

/**
 * Draws the line with its name above its first point, and a figure below each
 * point.
 */
function drawn({ name, values }: Line, colour: string, { thousands, x, y }: Scales): string {
  const points = values.map((value, index) => ({ value, x: x(thousands[index] ?? 1), y: y(value) }));
  const figures = points.map((point) => {
    const figure = point.value < 10 ? point.value.toFixed(2) : Math.round(point.value);
    const dot = `<circle cx="${point.x}" cy="${point.y}" r="3.5" fill="${colour}"/>`;
    return `${dot}<text x="${point.x}" y="${point.y + 18}" text-anchor="middle" ${halo} fill="${colour}">${figure}</text>`;
  });
  const [first] = points;
  return [
    `<polyline points="${points.map((point) => `${point.x},${point.y}`).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    ...figures,
    `<text x="${area.left + 8}" y="${(first?.y ?? 0) - 10}" ${halo} fill="${colour}" font-weight="600">${name}</text>`,
  ].join('\n');
}
