import { brand } from '../../api/page-brand.ts';
import { CodeBlock } from '../../ui/controls/code-block.tsx';
import { useFirstRequestSample } from '../playground/request-samples.ts';
import { keysText } from './keys-text.ts';

/** The first request with a new key, for a terminal. */
export function FirstRequestSample({ secret }: { readonly secret: string }) {
  const first = useFirstRequestSample();
  return (
    <CodeBlock
      wraps
      samples={[{ title: keysText.tryIt, text: `export ${brand.keyVariable}=${secret}\n\n${first.text}` }]}
    />
  );
}
