import { useState } from 'preact/hooks';
import type { DeliveryAttempt } from '../../api/contract.ts';
import { useRead } from '../../api/read-and-send-hooks.ts';
import { useIsOperatorPage } from '../../api/session.ts';
import { Loaded } from '../../ui/feedback/loaded-or-read-error.tsx';
import { callbacksText } from './callbacks-text.ts';

type AttemptProps = {
  /** The id of the task of a callback, or of an event. */
  readonly deliveryId: string;
  readonly attempt: number;
};

/** Request and response of an attempt. They are read when they are opened, because they are much larger than the rest of a list. */
export function AttemptExchange(props: AttemptProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <small>{callbacksText.exchange}</small>
      </summary>
      {isOpen && <Exchange {...props} />}
    </details>
  );
}

function Exchange({ deliveryId, attempt }: AttemptProps) {
  const path = useIsOperatorPage() ? '/api/admin/v1/callbacks/attempt' : '/api/v1/callbacks/attempt';
  return (
    <Loaded of={useRead(path, { deliveryId, attempt })} heights={[120]}>
      {(exchange) => <Messages exchange={exchange} attempt={attempt} />}
    </Loaded>
  );
}

function Messages({ exchange, attempt }: { readonly exchange: DeliveryAttempt; readonly attempt: number }) {
  const { url, request, response, isResponseHidden, status } = exchange;
  return (
    <div class="exchange">
      <h3>{callbacksText.response}</h3>
      {response === null ? (
        <p class="faint">{noResponse(isResponseHidden, status)}</p>
      ) : (
        <Message
          label={callbacksText.responseOf(attempt)}
          start={callbacksText.http(status ?? 0)}
          headers={response.headers}
          body={response.body}
        />
      )}
      <h3>{callbacksText.request}</h3>
      {request === null ? (
        <p class="faint">{callbacksText.notRecorded}</p>
      ) : (
        <>
          <Message
            label={callbacksText.requestOf(attempt)}
            start={`POST ${url}`}
            headers={request.headers}
            body={formatted(request.body)}
          />
          {request.isBodyCut && <p class="faint">{callbacksText.bodyCut}</p>}
        </>
      )}
    </div>
  );
}

function noResponse(isHidden: boolean, status: number | null): string {
  if (isHidden) return callbacksText.privateResponse;
  return status === null ? callbacksText.noResponse : callbacksText.notRecorded;
}

type Headers = NonNullable<DeliveryAttempt['response']>['headers'];
type MessageProps = {
  readonly label: string;
  /** The first line. */
  readonly start: string;
  readonly headers: Headers;
  readonly body: string;
};

function Message({ label, start, headers, body }: MessageProps) {
  const lines = [start, ...headers.map(({ name, value }) => `${name}: ${value}`)];
  return (
    <pre class="exchange-text" tabIndex={0} role="region" aria-label={label}>
      <bdi>
        {lines.join('\n')}
        {body !== '' && `\n\n${body}`}
      </bdi>
    </pre>
  );
}

/** Indented, if it is complete. */
function formatted(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    return body;
  }
}
