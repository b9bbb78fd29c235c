import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Point, Segment } from '../../../../src/providers/preview/titles/glyph-outline.ts';
import { fillMask } from '../../../../src/providers/preview/titles/mask.ts';

function polygon(...points: readonly Point[]): Segment[] {
  return points.map((from, i) => [from, points[(i + 1) % points.length] ?? from]);
}

test('a rectangle covers each pixel by exactly the part that lies in it', () => {
  const corners = [
    { x: 0.5, y: 0.25 },
    { x: 2.5, y: 0.25 },
    { x: 2.5, y: 2 },
    { x: 0.5, y: 2 },
  ];
  const { coverage } = fillMask(4, 3, polygon(...corners));
  assert.deepEqual([...coverage], [0.375, 0.75, 0.375, 0, 0.5, 1, 0.5, 0, 0, 0, 0, 0]);
});

test('a slanted shape covers its exact area', () => {
  const { coverage } = fillMask(10, 10, polygon({ x: 1.3, y: 0.7 }, { x: 8.9, y: 3.2 }, { x: 2.1, y: 9.4 }));
  const area = Math.abs((8.9 - 1.3) * (9.4 - 0.7) - (2.1 - 1.3) * (3.2 - 0.7)) / 2;
  assert.ok(Math.abs(coverage.reduce((sum, one) => sum + one, 0) - area) < 1e-3);
});
