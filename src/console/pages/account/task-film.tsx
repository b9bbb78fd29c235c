import { CircleAlert, Clapperboard, Trash2 } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TaskTimeline } from '../../api/contract.ts';
import { stateWords } from '../../words.ts';

type FilmProps = {
  readonly timeline: TaskTimeline;
  /** Links are signed for some hours: a film that no longer plays gets a fresh one. */
  readonly onExpired: () => void;
};

/** The video, or in its place and shape what becomes of it. */
export function TaskFilm({ timeline, onExpired }: FilmProps) {
  const { task, video } = timeline;
  const shape = video === null ? shapeOf(task.param.input.ratio) : `${video.widthPx} / ${video.heightPx}`;
  return (
    <div class="film" style={{ aspectRatio: shape, maxHeight: '72vh' }}>
      {task.state === 'success' ? (
        <Player key={task.taskId} timeline={timeline} onExpired={onExpired} />
      ) : task.state === 'fail' ? (
        <p class="wait">
          <CircleAlert size={28} aria-hidden="true" />
          <strong>No video</strong>
          <span>The task failed, and its credits were given back.</span>
        </p>
      ) : (
        <Waiting timeline={timeline} />
      )}
    </div>
  );
}

function shapeOf(ratio: string): string {
  return /^\d+:\d+$/.test(ratio) ? ratio.replace(':', ' / ') : '16 / 9';
}

/** Each reading signs another link; the first one stays while the film plays, or polling would begin it again. */
function Player({ timeline: { task, posterUrl }, onExpired }: FilmProps) {
  const [latest] = task.resultJson.resultUrls;
  const shown = useRef({ url: latest, poster: posterUrl });
  const [isBroken, setBroken] = useState(false);
  const isPosterThere = useLoaded(shown.current.poster);
  if (latest === undefined) {
    return (
      <p class="wait">
        <Trash2 size={28} aria-hidden="true" />
        <strong>The video was deleted</strong>
        <span>It can no longer be played. The record stays.</span>
      </p>
    );
  }
  if (isBroken || shown.current.url === undefined) shown.current = { url: latest, poster: posterUrl };
  return (
    // The films have no spoken words that captions could hold; sound is made up by the model.
    // oxlint-disable-next-line jsx-a11y/media-has-caption
    <video
      controls
      playsinline
      preload={isPosterThere ? 'metadata' : 'none'}
      aria-label="The generated video"
      src={shown.current.url}
      {...(shown.current.poster !== null && { poster: shown.current.poster })}
      onPlaying={() => setBroken(false)}
      onError={() => {
        if (isBroken) return;
        setBroken(true);
        onExpired();
      }}
    />
  );
}

/** Whether the picture has come, or will not. A film that begins to load beside it takes the line from it. */
function useLoaded(url: string | null): boolean {
  const [isLoaded, setLoaded] = useState(url === null);
  useEffect(() => {
    if (url === null) return undefined;
    const image = new Image();
    const done = () => setLoaded(true);
    image.addEventListener('load', done);
    image.addEventListener('error', done);
    image.src = url;
    return () => {
      image.removeEventListener('load', done);
      image.removeEventListener('error', done);
    };
  }, []);
  return isLoaded;
}

function Waiting({ timeline: { task, aheadOfOwn } }: { readonly timeline: TaskTimeline }) {
  const { word } = stateWords[task.state];
  const isGenerating = task.state === 'generating';
  return (
    <div class="wait">
      <Clapperboard size={28} aria-hidden="true" />
      <strong>{word}</strong>
      {isGenerating && <span class="number">{task.progress}&nbsp;%</span>}
      <progress class="progress" aria-label="Progress" max={100} {...(isGenerating && { value: task.progress })} />
      <span aria-live="polite">{waitSentence(task.state, aheadOfOwn)}</span>
    </div>
  );
}

function waitSentence(state: string, ahead: number | null): string {
  if (state === 'generating') return 'The page follows it by itself. You can leave; it goes on.';
  if (state === 'waiting' && !(ahead !== null && ahead > 0)) {
    return 'It is accepted and safe. The part of the service that makes videos takes it up by itself.';
  }
  if (ahead !== null && ahead > 0) {
    const own = ahead === 1 ? 'One of your tasks is' : `${ahead} of your tasks are`;
    return `${own} ahead. Accounts take turns.`;
  }
  return 'It begins as soon as a place is free.';
}
