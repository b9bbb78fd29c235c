import type { ComponentType, VNode } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** A component whose code is loaded when it is first shown, or earlier, by `load`. */
export type LazyComponent<Props> = ((props: Props) => VNode) & { readonly load: () => Promise<ComponentType<Props>> };

export function lazy<Props extends object>(
  importIt: () => Promise<ComponentType<Props>>,
  Loading: ComponentType,
  Failed: ComponentType,
): LazyComponent<Props> {
  let loaded: ComponentType<Props> | undefined;
  const load = async () => (loaded ??= await importIt());
  function Component(props: Props) {
    const [Loaded, setLoaded] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [isFailed, setFailed] = useState(false);
    useLayoutEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (component) => setLoaded(() => component),
        () => setFailed(true),
      );
    }, [Loaded]);
    if (isFailed) return <Failed />;
    return Loaded === undefined ? <Loading /> : <Loaded {...props} />;
  }
  return Object.assign(Component, { load });
}
