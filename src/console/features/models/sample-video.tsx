import { useState } from 'preact/hooks';
import type { Model } from '../../api/contract.ts';
import { Film } from '../../ui/controls/icons.ts';
import { modelsText } from './models-text.ts';
import './models.css';

type SampleProps = {
  readonly model: Model;
  /** With controls, on a page of its own; without, it plays while the pointer is on it. */
  readonly hasControls?: boolean;
};

/** The video or still of a model. Without one, or if its file cannot be loaded, an icon. */
export function ModelSample({ model: { sample, title }, hasControls = false }: SampleProps) {
  const [isBroken, setBroken] = useState(false);
  const { videoUrl = null, posterUrl = null } = sample ?? {};
  const onError = () => setBroken(true);
  return (
    <div class="model-sample">
      {isBroken || (videoUrl ?? posterUrl) === null ? (
        <p class="faint">
          <Film size={24} aria-hidden="true" />
          {hasControls && modelsText.noSample}
        </p>
      ) : videoUrl === null ? (
        <img src={posterUrl ?? ''} alt={hasControls ? modelsText.sampleOf(title) : ''} onError={onError} />
      ) : (
        // Samples have no spoken words that captions could hold.
        // oxlint-disable-next-line jsx-a11y/media-has-caption
        <video
          src={videoUrl}
          {...(posterUrl !== null && { poster: posterUrl })}
          playsinline
          loop
          muted={!hasControls}
          controls={hasControls}
          preload={hasControls || posterUrl === null ? 'metadata' : 'none'}
          {...(hasControls ? { 'aria-label': modelsText.sampleOf(title) } : { 'aria-hidden': true, tabIndex: -1 })}
          onError={onError}
        />
      )}
    </div>
  );
}
