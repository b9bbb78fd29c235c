import type { Path } from 'fontkit';

export type Point = { readonly x: number; readonly y: number };
export type Segment = readonly [Point, Point];

/** Straight pieces per curve; at title sizes a piece is then about two pixels long. */
const piecesPerCurve = 8;

/** The outline of a glyph as straight segments, in the units of the font, y upwards. */
export function glyphOutline(path: Path): Segment[] {
  const segments: Segment[] = [];
  let start: Point = { x: 0, y: 0 };
  let pen = start;
  const lineTo = (to: Point) => {
    segments.push([pen, to]);
    pen = to;
  };
  for (const { command, args } of path.commands) {
    const points = pointsOf(args);
    if (command === 'moveTo') pen = start = points[0] ?? start;
    else if (command === 'closePath') lineTo(start);
    else curve([pen, ...points]).forEach(lineTo);
  }
  return segments;
}

function pointsOf(args: readonly number[]): Point[] {
  const points: Point[] = [];
  for (let i = 0; i + 1 < args.length; i += 2) points.push({ x: args[i] ?? 0, y: args[i + 1] ?? 0 });
  return points;
}

/** De Casteljau's construction, which serves lines, quadratic and cubic curves alike. */
function curve(controls: readonly Point[]): Point[] {
  const pieces = controls.length === 2 ? 1 : piecesPerCurve;
  return Array.from({ length: pieces }, (_, i) => pointAt(controls, (i + 1) / pieces));
}

function pointAt(controls: readonly Point[], t: number): Point {
  const [first, ...rest] = controls;
  if (first === undefined) throw new Error('a curve has at least one point');
  if (rest.length === 0) return first;
  const between = rest.map((to, i) => {
    const from = controls[i] ?? to;
    return { x: from.x + (to.x - from.x) * t, y: from.y + (to.y - from.y) * t };
  });
  return pointAt(between, t);
}
