import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  maxUploadBytesOfKind,
  maxUploadMegabytes,
  type UploadKind,
  uploadMediaTypes,
} from '../../../../media/references/upload-limits-and-addresses.ts';
import { upload } from '../../../api/call.ts';
import { failureOf } from '../../../api/api-problem-and-words.ts';
import { useAccount, useNotAllowedReason } from '../../../api/session.ts';
import { Button } from '../../../ui/controls/button.tsx';
import { TextField } from '../../../ui/forms/form-fields.tsx';
import { useClaimedFieldError } from '../../../ui/forms/form.tsx';
import { ImagePlus, Link2, X } from '../../../ui/controls/icons.ts';
import { MediaThumbnail, storeUploadPreviewLink } from '../../tasks/reference-media-thumbnail.tsx';
import type { OnPending } from './use-reasons-to-wait-for-media.ts';
import { playgroundText } from '../playground-text.ts';
import { isUploadExpired, isUploadUrl } from './upload-previews-and-expiry.ts';

type MediaProps = {
  readonly label: string;
  /** `image`, `video` or `audio`. */
  readonly media: UploadKind;
  readonly urls: readonly string[];
  readonly max: number;
  readonly hint: string;
  /** The path of its errors. */
  readonly name: string;
  readonly blocked: string | undefined;
  readonly onPending: OnPending;
  /** Called with a function of the current URLs. */
  readonly onUrls: (change: (urls: readonly string[]) => readonly string[]) => void;
};

/** Reference media: URLs that the service can reach, or files that are uploaded, dropped or pasted. See `file-drop-and-paste.ts`. */
export function MediaField(props: MediaProps) {
  const { label, name, media, urls, max, hint, blocked, onPending, onUrls } = props;
  const [isTyping, setTyping] = useState(false);
  const fieldError = useClaimedFieldError(name);
  const picker = useRef<HTMLInputElement>(null);
  const mayNot = useNotAllowedReason('member');
  const disabledReason = mayNot ?? blocked ?? (urls.length >= max && max > 1 ? playgroundText.atMost(max) : undefined);
  // A new file replaces a single one.
  const add = (url: string) => onUrls((before) => (max === 1 ? [url] : [...before, url]));
  const { isBusy, uploadError, clearError, send } = useUploads({
    media,
    max: Math.max(1, max - urls.length),
    onPending,
    onUploaded: add,
  });
  // A refusal of the request is newer than what an upload before it reported.
  useEffect(() => {
    if (fieldError !== undefined) clearError();
  }, [fieldError]);
  const error = uploadError ?? fieldError;
  const change: MediaProps['onUrls'] = (next) => {
    clearError();
    onUrls(next);
  };
  return (
    <fieldset
      class="field media"
      data-media={media}
      {...(disabledReason !== undefined && { 'data-disabled': disabledReason })}
    >
      <legend>{label}</legend>
      {urls.length > 0 && <Chosen urls={urls} media={media} onUrls={change} />}
      <div class="row drop">
        <Button size="small" busy={isBusy} disabledReason={disabledReason} onClick={() => picker.current?.click()}>
          <ImagePlus size={14} aria-hidden="true" /> {playgroundText.upload}
        </Button>
        <Button
          size="small"
          disabledReason={disabledReason}
          onClick={() => setTyping(!isTyping)}
          aria-expanded={isTyping}
        >
          <Link2 size={14} aria-hidden="true" /> {playgroundText.byUrl}
        </Button>
        <small class="faint nowrap">{playgroundText.dropHere}</small>
        <input
          ref={picker}
          type="file"
          hidden
          multiple={max > 1}
          accept={uploadMediaTypes[media].join(',')}
          aria-label={playgroundText.filesOf(label)}
          onChange={(event) => {
            const { files } = event.currentTarget;
            if (files !== null && files.length > 0) void send([...files]);
            event.currentTarget.value = '';
          }}
        />
      </div>
      {isTyping && (
        <ByUrl
          label={playgroundText.urlOf(playgroundText.aFile[media])}
          onPending={onPending}
          onUrl={(url) => {
            clearError();
            add(url);
            setTyping(false);
          }}
        />
      )}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <p class="under">
        {hint}
        {blocked === undefined &&
          ` ${playgroundText.sizeLimit(playgroundText.formats[media], maxUploadMegabytes[media])}`}
      </p>
    </fieldset>
  );
}

type UploadsProps = Pick<MediaProps, 'media' | 'max' | 'onPending'> & { readonly onUploaded: (url: string) => void };

/** Uploads files one after the other, up to the first that is refused. Files that are dropped meanwhile are refused. */
function useUploads({ media, max, onPending, onUploaded }: UploadsProps) {
  const { accountId } = useAccount();
  const [isBusy, setBusy] = useState(false);
  const [uploadError, setUploadError] = useState<string>();
  const send = async (files: readonly File[]) => {
    if (isBusy) return setUploadError(playgroundText.uploading);
    const endWait = onPending(playgroundText.uploading);
    setBusy(true);
    setUploadError(files.length > max ? playgroundText.notAll(max, files.length) : undefined);
    try {
      for (const file of files.slice(0, max)) {
        // Some systems know no type for HEIC and MKV; the service judges the content.
        if (file.type !== '' && !file.type.startsWith(`${media}/`))
          throw new Error(playgroundText.notOfKind(file.name, playgroundText.aFile[media]));
        if (file.size > maxUploadBytesOfKind(media))
          throw new Error(playgroundText.tooLarge(file.name, maxUploadMegabytes[media]));
        const { url, previewUrl } = await upload(file, { account: accountId });
        storeUploadPreviewLink(url, previewUrl);
        onUploaded(url);
      }
    } catch (error) {
      setUploadError(error instanceof Error && error.name === 'Error' ? error.message : failureOf(error).sentence);
    } finally {
      setBusy(false);
      endWait();
    }
  };
  return { isBusy, uploadError, clearError: () => setUploadError(undefined), send };
}

function Chosen({ urls, media, onUrls }: Pick<MediaProps, 'urls' | 'media' | 'onUrls'>) {
  return (
    <ul class="chosen-media">
      {urls.map((url, index) => (
        // The same file may be given twice.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={`${index} ${url}`}>
          <MediaThumbnail url={url} media={media} />
          <bdi class="truncate">{nameOf(url, media)}</bdi>
          <Button
            variant="quiet"
            size="small icon"
            aria-label={playgroundText.remove(media, index + 1)}
            onClick={() => onUrls((before) => before.filter((_url, at) => at !== index))}
          >
            <X size={14} />
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** People recognize the address of a file elsewhere, and nothing in that of an upload. */
function nameOf(url: string, media: UploadKind): string {
  if (!isUploadUrl(url)) return url.split('?')[0] ?? url;
  const name = playgroundText.uploaded[media];
  return isUploadExpired(url) ? playgroundText.expired(name) : name;
}

type ByUrlProps = Pick<MediaProps, 'label' | 'onPending'> & { readonly onUrl: (url: string) => void };

function ByUrl({ label, onPending, onUrl }: ByUrlProps) {
  const [typed, setTyped] = useState('');
  const url = typed.trim();
  const isTyped = url !== '';
  useLayoutEffect(() => (isTyped ? onPending(playgroundText.urlNotAdded) : undefined), [isTyped, onPending]);
  const add = () => isTyped && onUrl(url);
  return (
    <div class="by-url">
      <TextField
        label={label}
        inputMode="url"
        placeholder="https://…"
        value={typed}
        onValue={setTyped}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          // Ctrl+Enter would send the form without this URL.
          event.stopPropagation();
          add();
        }}
      />
      <Button onClick={add}>{playgroundText.add}</Button>
    </div>
  );
}
