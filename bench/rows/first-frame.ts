import type { Page } from 'playwright-core';
import type { Visitor } from '../../test/support/console.ts';
import { interleaved } from '../rounds.ts';
import { type Row, showMs, times } from '../row.ts';
import { median } from '../statistics.ts';

const targetMs = 1_000;

/**
 * Observes the video on the page, in milliseconds since the navigation: when
 * its poster is painted, and when its first frame is decoded.
 */
const observeVideo = `
  window.posterMs = undefined;
  window.frameMs = new Promise((resolve) =>
    document.addEventListener(
      'loadeddata',
      ({ target }) => {
        if (target.tagName === 'VIDEO') resolve(performance.now());
      },
      true,
    ),
  );
  new PerformanceObserver((list) => {
    for (const { element, startTime } of list.getEntries()) if (element?.tagName === 'VIDEO') window.posterMs ??= startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });`;

/** Milliseconds since the navigation. A page without a poster has no `posterMs`. */
type FirstFrame = { readonly posterMs?: number; readonly frameMs: number };

type Signed = Parameters<Visitor['open']>[0];
/**
 * `floorOf` returns the address of a page that has only the video at the given
 * address.
 */
type TaskPage = { readonly url: string; readonly options: Signed; readonly floorOf: (video: string) => string };

/**
 * Measures the first frame of a video after its task page was opened, with a
 * cold cache, beside a page that has only that video.
 */
export async function frameRow(visitor: Visitor, { url, options, floorOf }: TaskPage): Promise<Row> {
  const video = await visit(visitor, url, options, (page) =>
    page.evaluate<string>(`document.querySelector('video').currentSrc`),
  );
  const measured = await interleaved({
    floor: () => visit(visitor, floorOf(video), {}, firstFrame),
    ours: () => visit(visitor, url, options, firstFrame),
  });
  const floorMs = median(measured.floor.map(({ frameMs }) => frameMs));
  const frameMs = median(measured.ours.map((one) => one.frameMs));
  const posterMs = median(measured.ours.map((one) => one.posterMs ?? Number.NaN));
  const slowestMs = Math.max(...measured.ours.map((one) => Math.min(one.frameMs, one.posterMs ?? one.frameMs)));
  return {
    what: 'console: first frame of a video after opening its task page, cold cache',
    floor: `a page with only the video: ${showMs(floorMs)}`,
    measured: `poster painted ${showMs(posterMs)}, first frame decoded ${showMs(frameMs)}; visible after ${showMs(slowestMs)} at most`,
    ratio: times(frameMs / floorMs),
    target: `visible ≤ ${targetMs / 1_000} s`,
    isReached: slowestMs <= targetMs,
  };
}

async function visit<Answer>(
  visitor: Visitor,
  url: string,
  options: Signed,
  read: (page: Page) => Promise<Answer>,
): Promise<Answer> {
  const { page, context } = await visitor.open(options);
  try {
    await page.addInitScript(observeVideo);
    await page.goto(url);
    await page.evaluate('window.frameMs');
    return await read(page);
  } finally {
    await context.close();
  }
}

/**
 * Returns the times after a pause, because the browser reports paints with a
 * delay.
 */
async function firstFrame(page: Page): Promise<FirstFrame> {
  await page.waitForTimeout(500);
  return await page.evaluate<FirstFrame>('window.frameMs.then((frameMs) => ({ posterMs: window.posterMs, frameMs }))');
}
