import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { detailOfAnswerOrError, answerOrErrorOf } from '../classify-upstream-answers.ts';
import { failed, pass, skipped, type RuleVerdict } from './conformance-rules-and-verdicts.ts';
import type { ConformanceRunOptions } from './conformance-requests-and-findings.ts';

// The video of a job in a check: whole, and from any byte on.

type Source = Pick<ConformanceRunOptions, 'client' | 'signal'>;

/** This many breaks are no accident. */
const maxBreaks = 5;

export async function checkDownload({ client, signal }: Source, id: string, path: string): Promise<RuleVerdict> {
  const broken = new AbortController();
  let breaks = 0;
  const onBreak = (error: unknown) => {
    breaks += 1;
    if (breaks >= maxBreaks) broken.abort(new Error(`broke ${breaks} times: ${detailOfAnswerOrError({ error })}`));
  };
  const stopping = AbortSignal.any([signal, broken.signal]);
  return await client.download(`/jobs/${id}/video`, path, { signal: stopping, onBreak }).then(
    () => pass,
    (error: unknown) => failed(detailOfAnswerOrError({ error })),
  );
}

/** More than this is not read into memory. */
const maxRangeBytes = 64 * 1024 * 1024;
const rangeTimeoutMs = 60_000;

export async function checkRange({ client, signal }: Source, id: string, path: string): Promise<RuleVerdict> {
  const { size } = await stat(path);
  const first = Math.max(1, size - 1000);
  const target = `/jobs/${id}/video`;
  const limits = { timeoutMs: rangeTimeoutMs, maxBytes: maxRangeBytes, signal };
  const reply = await answerOrErrorOf(client.call('GET', target, { ...limits, headers: { range: `bytes=${first}-` } }));
  const notOffered = skipped('the whole file came: a download that breaks begins anew');
  if ('error' in reply) return size > maxRangeBytes ? notOffered : failed(detailOfAnswerOrError(reply));
  const { status, headers, body } = reply.answer;
  if (status === 200)
    return headers['accept-ranges'] === 'bytes' ? failed('200 in spite of Accept-Ranges') : notOffered;
  const range = headers['content-range'];
  if (status !== 206 || range !== `bytes ${first}-${size - 1}/${size}`)
    return failed(`HTTP ${status} with Content-Range ${String(range)} for bytes=${first}- of ${size}`);
  const tail = await buffer(createReadStream(path, { start: first }));
  return body.equals(tail) ? pass : failed('other bytes than those of the whole file');
}
