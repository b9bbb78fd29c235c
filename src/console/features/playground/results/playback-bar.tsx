import { useEffect } from 'preact/hooks';
import { Button } from '../../../ui/controls/button.tsx';
import { Pause, Play } from '../../../ui/controls/icons.ts';
import type { SyncedPlayback } from './synced-playback.ts';
import { playgroundText } from '../playground-text.ts';

type BarProps = { readonly playback: SyncedPlayback; readonly onSound: () => void };

const keyStepSeconds = 1;

/** Plays, pauses and seeks all films; also by keyboard, while nothing else takes the keys. */
export function PlaybackBar({ playback, onSound }: BarProps) {
  const { isPlaying, seconds, lengthSeconds, toggle, seek } = playback;
  useKeys(playback, onSound);
  return (
    <div class="playback" role="group" aria-label={playgroundText.playback}>
      <Button
        size="icon"
        aria-label={isPlaying ? playgroundText.pause : playgroundText.play}
        title={playgroundText.keys}
        onClick={toggle}
      >
        {isPlaying ? <Pause size={16} /> : <Play size={16} />}
      </Button>
      <input
        type="range"
        class="input"
        aria-label={playgroundText.position}
        aria-valuetext={playgroundText.positionOf(seconds.toFixed(1), lengthSeconds.toFixed(1))}
        min={0}
        max={lengthSeconds}
        step={0.05}
        value={seconds}
        onInput={({ currentTarget }) => seek(Number(currentTarget.value))}
      />
      <span class="number soft nowrap">
        {seconds.toFixed(1)} / {lengthSeconds.toFixed(1)}&nbsp;s
      </span>
    </div>
  );
}

function useKeys({ toggle, seek, seconds }: SyncedPlayback, onSound: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || takesKeys(event.target)) return;
      const actions: Readonly<Record<string, () => unknown>> = {
        ' ': () => !event.repeat && toggle(),
        m: () => !event.repeat && onSound(),
        ArrowLeft: () => seek(seconds - keyStepSeconds),
        ArrowRight: () => seek(seconds + keyStepSeconds),
      };
      const action = actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [toggle, seek, seconds, onSound]);
}

function takesKeys(target: EventTarget | null): boolean {
  return (
    target instanceof Element &&
    target.closest('a, button, input, textarea, select, summary, video, dialog, [popover], [tabindex="0"]') !== null
  );
}
