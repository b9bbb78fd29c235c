import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { GalleryVideo } from '../../api/contract.ts';
import { useAccount, useNotAllowedReason } from '../../api/session.ts';
import { accountPaths } from '../../paths.ts';
import { Button, LinkButton } from '../../ui/controls/button.tsx';
import { CopyButton } from '../../ui/controls/copy-button.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { ChevronLeft, ChevronRight, Link2, RefreshCw, Star, Tags, X } from '../../ui/controls/icons.ts';
import { Facts } from '../../ui/page-card-facts-and-tiles.tsx';
import { Time } from '../../ui/times-and-durations.tsx';
import { Toasts } from '../../ui/feedback/toast.tsx';
import { DownloadLink } from '../tasks/detail/task-cost-and-actions.tsx';
import { galleryText } from './gallery-text.ts';
import { VideoShareLinksDialog } from './video-share-links-dialog.tsx';
import { TagDialog } from './tag-dialog.tsx';
import type { VideoLinks } from './favorites-and-steady-links.ts';

type LightboxProps = {
  readonly video: GalleryVideo;
  readonly links: VideoLinks;
  readonly isFavorite: boolean;
  readonly onFavorite: () => void;
  /** Undefined at the ends of the page. */
  readonly onNewer: (() => void) | undefined;
  readonly onOlder: (() => void) | undefined;
  readonly onTagged: (tags: readonly string[]) => void;
  readonly onBroken: () => void;
  readonly onClose: () => void;
};

/** One video over the whole window. The browser keeps the focus inside the dialog. */
export function Lightbox(props: LightboxProps) {
  const { video, links, isFavorite, onFavorite, onNewer, onOlder, onTagged, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const player = useRef<HTMLVideoElement>(null);
  const memberReason = useNotAllowedReason('member');
  useEffect(() => {
    const { current } = dialog;
    current?.showModal();
    player.current?.focus();
    return () => current?.close();
  }, []);
  // Another link replaces the player, and a step to the last video removes its button: the keys would have no target.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) player.current?.focus();
  }, [links.videoUrl]);
  const close = () => {
    // Nothing below an open dialog takes the focus.
    dialog.current?.close();
    onClose();
  };
  const press = (event: JSX.TargetedKeyboardEvent<HTMLDialogElement>) => {
    const { key, target } = event;
    // Keys of a field, and of a dialog above this one, are its own.
    if (!(target instanceof Element) || target.closest('dialog') !== dialog.current) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (key === 'ArrowLeft') onNewer?.();
    else if (key === 'ArrowRight') onOlder?.();
    // Key repeat would toggle the playback, and the favorite with one request each time.
    else if (event.repeat) return;
    // The player and the buttons have a meaning of their own for the space bar.
    else if (key === ' ' && target.closest('button, a, video') === null) togglePlay(player.current);
    else if (key.toLowerCase() === 'f' && memberReason === undefined) onFavorite();
    else return;
    // The player would seek with the arrows.
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="lightbox"
      // A click beside the controls leaves the focus inside, where the keys work.
      tabIndex={-1}
      aria-label={galleryText.viewer}
      onKeyDown={press}
      onCancel={(event) => {
        event.preventDefault();
        if (event.target === dialog.current) close();
      }}
    >
      <Stage {...props} player={player} />
      <aside>
        <div class="row apart">
          <Button variant="quiet" aria-pressed={isFavorite} disabledReason={memberReason} onClick={onFavorite}>
            <Star size={16} aria-hidden="true" /> {galleryText.favorite}
          </Button>
          <Button variant="quiet" size="icon" aria-label={galleryText.close} onClick={close}>
            <X size={18} />
          </Button>
        </div>
        <About video={video} />
        <Actions video={video} links={links} memberReason={memberReason} onTagged={onTagged} />
        <p class="faint keys">{galleryText.keys}</p>
      </aside>
      <Toasts />
    </dialog>
  );
}

type StageProps = Pick<LightboxProps, 'video' | 'links' | 'onNewer' | 'onOlder' | 'onBroken'> & {
  readonly player: RefObject<HTMLVideoElement>;
};

function Stage({ video, links, player, onNewer, onOlder, onBroken }: StageProps) {
  return (
    <div class="stage">
      {/* The films have no spoken words that captions could hold; sound is made up by the model. */}
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption */}
      <video
        key={links.videoUrl}
        ref={player}
        controls
        autoplay
        loop
        playsinline
        aria-label={video.prompt}
        src={links.videoUrl}
        poster={links.posterUrl}
        onError={onBroken}
      />
      <Step label={galleryText.newer} onStep={onNewer} isNewer />
      <Step label={galleryText.older} onStep={onOlder} />
    </div>
  );
}

function togglePlay(player: HTMLVideoElement | null): void {
  if (player?.paused === true) void player.play();
  else player?.pause();
}

type StepProps = { readonly label: string; readonly onStep: (() => void) | undefined; readonly isNewer?: boolean };

function Step({ label, onStep, isNewer }: StepProps) {
  if (onStep === undefined) return null;
  return (
    <button type="button" class={isNewer === true ? 'step newer' : 'step older'} aria-label={label} onClick={onStep}>
      {isNewer === true ? <ChevronLeft size={22} /> : <ChevronRight size={22} />}
    </button>
  );
}

function About({ video }: { readonly video: GalleryVideo }) {
  const { prompt, model, width, height, seconds, hasAudio, createTime, tags } = video;
  const words = galleryText.facts;
  return (
    <>
      <div class="prompt">
        <p dir="auto">{prompt}</p>
        <CopyButton text={prompt} label={galleryText.copyPrompt} />
      </div>
      {tags.length > 0 && (
        <ul class="badges" aria-label={galleryText.tags}>
          {tags.map((tag) => (
            <li key={tag} class="badge">
              {tag}
            </li>
          ))}
        </ul>
      )}
      <Facts
        facts={[
          [words.model, model],
          [words.size, `${width} × ${height}`],
          [words.length, galleryText.seconds(seconds)],
          [words.sound, hasAudio ? galleryText.withSound : galleryText.silent],
          [words.created, <Time key="time" ms={createTime} />],
        ]}
      />
    </>
  );
}

type ActionsProps = Pick<LightboxProps, 'video' | 'links' | 'onTagged'> & { readonly memberReason: string | undefined };

function Actions({ video, links, memberReason, onTagged }: ActionsProps) {
  const { accountId } = useAccount();
  return (
    <div class="row">
      <LinkButton href={accountPaths.playgroundFrom(accountId, video.taskId)} variant="primary">
        <RefreshCw size={16} aria-hidden="true" /> {galleryText.runAgain}
      </LinkButton>
      <DialogButton label={galleryText.share} icon={Link2} disabledReason={memberReason}>
        {(close) => <VideoShareLinksDialog taskId={video.taskId} onClose={close} />}
      </DialogButton>
      <DialogButton label={galleryText.editTags} icon={Tags} disabledReason={memberReason}>
        {(close) => <TagDialog videos={[video]} onTagged={onTagged} onClose={close} />}
      </DialogButton>
      <DownloadLink url={links.videoUrl} label={galleryText.download} />
      <LinkButton href={accountPaths.task(accountId, video.taskId)}>{galleryText.task}</LinkButton>
    </div>
  );
}
