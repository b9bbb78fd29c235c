import type { ComponentType, VNode } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** A component whose code is loaded when it is first shown. `fallback` keeps its place, and says when the code does not come. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Fallback: ComponentType<{ failed: boolean }>,
): (props: Props) => VNode {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [Loaded, setLoaded] = useState<ComponentType<Props> | undefined>(() => loaded);
    const [failed, setFailed] = useState(false);
    // Other effects wait for the paint of the fallback.
    useLayoutEffect(() => {
      if (Loaded !== undefined) return;
      load().then(
        (component) => {
          loaded = component;
          setLoaded(() => component);
        },
        () => setFailed(true),
      );
    }, [Loaded]);
    return Loaded === undefined ? <Fallback failed={failed} /> : <Loaded {...props} />;
  };
}
