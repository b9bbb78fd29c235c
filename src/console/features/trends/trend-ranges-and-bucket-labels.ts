import type { Trends } from '../../api/contract.ts';

export const trendRangeChoices = ['day', 'week', 'month'] as const satisfies readonly Trends['range'][];

const hour = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' });
const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** The name of each part of the range, by its beginning in UTC. */
export function bucketNames({ range, buckets }: Pick<Trends, 'range' | 'buckets'>): readonly string[] {
  return buckets.map(({ startTime }) => {
    if (range === 'day') return hour.format(startTime);
    return range === 'week' ? `${day.format(startTime)}, ${hour.format(startTime)}` : day.format(startTime);
  });
}
