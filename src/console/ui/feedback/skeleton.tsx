import './skeleton.css';
/** Stands where something will be, in its size; seen only when loading takes longer than 150 ms. */
export function Skeleton({ width = '100%', height }: { readonly width?: string; readonly height?: string }) {
  return <span class="skeleton late" style={{ width, ...(height !== undefined && { height }) }} aria-hidden="true" />;
}
