import type { Colour } from './palette.ts';

/** A small picture that is painted for each frame and enlarged by ffmpeg. */
export type Canvas = {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly y: Float32Array;
  readonly u: Float32Array;
  readonly v: Float32Array;
};

export function createCanvas(widthPx: number, heightPx: number): Canvas {
  const plane = () => new Float32Array(widthPx * heightPx);
  return { widthPx, heightPx, y: plane(), u: plane(), v: plane() };
}

/** Lays a colour over one pixel; `share` 1 covers it. */
export function paint(canvas: Canvas, i: number, { y, u, v }: Colour, share: number): void {
  const rest = 1 - share;
  canvas.y[i] = (canvas.y[i] ?? 0) * rest + y * share;
  canvas.u[i] = (canvas.u[i] ?? 0) * rest + u * share;
  canvas.v[i] = (canvas.v[i] ?? 0) * rest + v * share;
}

/** Covers one pixel with a mixture of two colours. */
export function paintMix(canvas: Canvas, i: number, from: Colour, to: Colour, share: number): void {
  canvas.y[i] = from.y + (to.y - from.y) * share;
  canvas.u[i] = from.u + (to.u - from.u) * share;
  canvas.v[i] = from.v + (to.v - from.v) * share;
}

/**
 * The picture as `yuv444p10le`, darker towards the corners. Ten bits let ffmpeg dither when it enlarges, without which
 * slow gradients would show bands. A new array each time, for the pipe may still hold the one before.
 */
export function canvasBytes(canvas: Canvas, vignette: Float32Array): Uint8Array {
  const size = canvas.y.length;
  const samples = new Uint16Array(3 * size);
  for (let i = 0; i < size; i++) {
    const light = vignette[i] ?? 1;
    samples[i] = 64 + 876 * light * (canvas.y[i] ?? 0) + 0.5;
    samples[size + i] = 512 + 896 * light * (canvas.u[i] ?? 0) + 0.5;
    samples[2 * size + i] = 512 + 896 * light * (canvas.v[i] ?? 0) + 0.5;
  }
  return new Uint8Array(samples.buffer);
}

/** 1 in the middle, falling to about 0.6 in the corners. */
export function vignetteOf(widthPx: number, heightPx: number): Float32Array {
  return Float32Array.from({ length: widthPx * heightPx }, (_, i) => {
    const x = (2 * ((i % widthPx) + 0.5)) / widthPx - 1;
    const y = (2 * (Math.floor(i / widthPx) + 0.5)) / heightPx - 1;
    return 1 - 0.2 * (x * x + y * y);
  });
}
