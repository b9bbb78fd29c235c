import type { Callback, OperatorCallback } from '../../api/contract.ts';
import { StateWithDot, WordWithDot } from '../../ui/controls/badge-and-state-dot.tsx';
import { choiceFilter } from '../../ui/lists/filter-bar-and-url-parameters.tsx';
import { type Column, Table } from '../../ui/lists/table.tsx';
import { formatDuration, Time } from '../../ui/times-and-durations.tsx';
import { AttemptExchange } from './attempt-exchange.tsx';
import { callbacksText as text, callbackStateWordAndTone } from './callbacks-text.ts';
import './callbacks.css';

// Callbacks and events are delivered in the same way: in attempts, until one gets a 2xx response.

export type AttemptView = Callback['attempts'][number] &
  Partial<Pick<OperatorCallback['attempts'][number], 'operator'>>;

type Delivery = Pick<Callback, 'state' | 'nextAttemptTime'> & { readonly attempts: readonly AttemptView[] };

/** A list is read again sooner while one of its deliveries is pending. */
export function deliveryPollMs(deliveries: readonly Pick<Delivery, 'state'>[] = []): number {
  return deliveries.some(({ state }) => state === 'pending') ? 3000 : 15_000;
}

export const deliveryStateFilter = choiceFilter({
  name: 'state',
  label: text.state,
  control: 'tabs',
  all: text.all,
  values: ['pending', 'delivered', 'failed', 'rejected'] as const,
  word: (state) => callbackStateWordAndTone(state).word,
});

export const deliveryStateColumn: Column<Delivery> = {
  title: text.columns.state,
  kind: 'shrink',
  cell: ({ state }) => <WordWithDot of={callbackStateWordAndTone(state)} />,
};

export const lastResponseColumn: Column<Delivery> = {
  title: text.columns.response,
  kind: 'shrink',
  cell: ({ attempts: [last] }) => (last === undefined ? text.noAttempt : <ResponseStatus attempt={last} />),
};

export const nextAttemptColumn: Column<Delivery> = {
  title: text.columns.next,
  kind: 'end',
  cell: ({ nextAttemptTime }) => (nextAttemptTime === null ? '–' : <Time ms={nextAttemptTime} />),
};

function ResponseStatus({ attempt: { status, error, operator } }: { readonly attempt: AttemptView }) {
  const isGood = status !== null && status >= 200 && status < 300;
  return (
    <StateWithDot tone={isGood ? 'good' : 'bad'}>
      {status === null
        ? (operator?.networkError ?? text.errors[error === null || error === 'redirected' ? 'unreachable' : error])
        : text.http(status)}
      {error === 'redirected' && <> {text.redirected}</>}
    </StateWithDot>
  );
}

type AttemptsProps = {
  /** The ID of the task of a callback, or of an event. */
  readonly deliveryId: string;
  readonly attempts: readonly AttemptView[];
};

/** Each attempt with its request and response. Absent before the first one. */
export function Attempts({ deliveryId, attempts }: AttemptsProps) {
  if (attempts.length === 0) return null;
  return (
    <Table
      caption={text.attempts}
      rows={attempts}
      rowKey={({ attempt }) => attempt}
      columns={[
        { title: text.attempt, kind: 'head', cell: ({ attempt }) => `#${attempt}` },
        {
          title: text.response,
          isWide: true,
          cell: (attempt) => (
            <>
              <ResponseStatus attempt={attempt} />
              <AttemptExchange deliveryId={deliveryId} attempt={attempt.attempt} />
            </>
          ),
        },
        { title: text.duration, kind: 'end', cell: ({ durationMs }) => formatDuration(durationMs) },
        { title: text.time, kind: 'end', cell: ({ startTime }) => <Time ms={startTime} /> },
      ]}
    />
  );
}
