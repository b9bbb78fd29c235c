import type { ComponentType, VNode } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** A component whose code is loaded when it is first shown, or earlier, by `load`. */
export type Lazy<Props> = ((props: Props) => VNode) & { readonly load: () => Promise<ComponentType<Props>> };

/** `fallback` keeps the place of a component whose code is not there yet, and says when it does not come. */
export function lazy<Props extends object>(
  importIt: () => Promise<ComponentType<Props>>,
  Fallback: ComponentType<{ failed: boolean }>,
): Lazy<Props> {
  let loaded: ComponentType<Props> | undefined;
  const load = async () => (loaded ??= await importIt());
  function Component(props: Props) {
    const [Loaded, setLoaded] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [failed, setFailed] = useState(false);
    // Other effects wait for the paint of the fallback.
    useLayoutEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (component) => setLoaded(() => component),
        () => setFailed(true),
      );
    }, [Loaded]);
    return Loaded === undefined ? <Fallback failed={failed} /> : <Loaded {...props} />;
  }
  return Object.assign(Component, { load });
}
