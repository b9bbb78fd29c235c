import { Film, Link2, Music } from '../../ui/controls/icons.ts';
import { useState } from 'preact/hooks';
import './chosen-media.css';

/** Links to uploaded files, by their URL in the input, which opens nothing itself. */
const previews = new Map<string, string>();

/** The first link stays, because a new one would load the image again. */
export function storeUploadPreviewLink(url: string, previewUrl: string): void {
  if (!previews.has(url)) previews.set(url, previewUrl);
}

export function previewLinkOf(url: string): string | undefined {
  return previews.get(url);
}

/** Only images that were uploaded can be shown: the page loads nothing from other hosts. */
export function MediaThumbnail({ url, media }: { readonly url: string; readonly media: string }) {
  const [isBroken, setBroken] = useState(false);
  const preview = previews.get(url);
  if (media === 'audio') return <Music size={16} aria-hidden="true" />;
  if (media === 'video') {
    if (preview === undefined || isBroken) return <Film size={16} aria-hidden="true" />;
    return (
      <video src={preview} muted playsinline preload="metadata" aria-hidden="true" onError={() => setBroken(true)} />
    );
  }
  if (preview === undefined || isBroken) return <Link2 size={16} aria-hidden="true" />;
  return <img src={preview} alt="" onError={() => setBroken(true)} />;
}
