import { ImagePlus } from './icons.ts';
import { Link2, X } from '../../ui/icons.ts';
import { useRef, useState } from 'preact/hooks';
import { maxUploadBytes, maxUploadMegabytes, type UploadKind, uploadTypes } from '../../../media/upload.ts';
import { upload } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useAccount } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { MediaThumbnail, storePreview } from '../media-thumbnail.tsx';

type MediaProps = {
  readonly label: string;
  /** `image`, `video` or `audio`. */
  readonly media: UploadKind;
  readonly urls: readonly string[];
  readonly max: number;
  readonly hint: string;
  readonly fault: string | undefined;
  readonly blocked: string | undefined;
  /** Called with a function of the current URLs. */
  readonly onUrls: (change: (urls: readonly string[]) => readonly string[]) => void;
};

const formats: Readonly<Record<UploadKind, string>> = {
  image: 'JPEG, PNG or WebP',
  video: 'MP4, MOV or WebM',
  audio: 'MP3, WAV or M4A',
};
const mediaWords: Readonly<Record<UploadKind, string>> = {
  image: 'an image',
  video: 'a video',
  audio: 'an audio file',
};

/** Reference media: URLs that the service can reach, or files that are uploaded, dropped or pasted. See `playground-drop.ts`. */
export function MediaField({ label, media, urls, max, hint, fault, blocked, onUrls }: MediaProps) {
  const { accountId } = useAccount();
  const [isTyping, setTyping] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [uploadFault, setUploadFault] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);
  const types = uploadTypes[media];
  const disabledReason = blocked ?? (urls.length >= max && max > 1 ? `At most ${max}` : undefined);
  // A new file replaces a single one.
  const add = (url: string) => onUrls((before) => (max === 1 ? [url] : [...before, url]));
  const send = async (files: readonly File[]) => {
    setBusy(true);
    setUploadFault(undefined);
    try {
      for (const file of files.slice(0, Math.max(1, max - urls.length))) {
        if (!file.type.startsWith(`${media}/`)) throw new Error(`${file.name} is not ${mediaWords[media]}`);
        if (file.size > maxUploadBytes(media))
          throw new Error(`${file.name} is larger than ${maxUploadMegabytes[media]} MB`);
        const { url, previewUrl } = await upload(file, { account: accountId });
        storePreview(url, previewUrl);
        add(url);
      }
    } catch (error) {
      setUploadFault(error instanceof Error && error.name === 'Error' ? error.message : failureOf(error).sentence);
    } finally {
      setBusy(false);
    }
  };
  const shownFault = uploadFault ?? fault;
  return (
    <fieldset class="field media" {...(disabledReason === undefined && { 'data-media': media })}>
      <legend>{label}</legend>
      {urls.length > 0 && <Chosen urls={urls} media={media} onUrls={onUrls} />}
      <div class="row drop">
        <Button size="small" busy={isBusy} disabledReason={disabledReason} onClick={() => picker.current?.click()}>
          <ImagePlus size={14} aria-hidden="true" /> Upload
        </Button>
        <Button
          size="small"
          disabledReason={disabledReason}
          onClick={() => setTyping(!isTyping)}
          aria-expanded={isTyping}
        >
          <Link2 size={14} aria-hidden="true" /> By URL
        </Button>
        <small class="faint">or drop or paste a file</small>
        <input
          ref={picker}
          type="file"
          hidden
          multiple={max > 1}
          accept={types.join(',') || `${media}/*`}
          aria-label={`Files of ${label}`}
          onChange={(event) => {
            const { files } = event.currentTarget;
            if (files !== null && files.length > 0) void send([...files]);
            event.currentTarget.value = '';
          }}
        />
      </div>
      {isTyping && (
        <ByUrl
          label={`URL of ${mediaWords[media]}`}
          onUrl={(url) => {
            add(url);
            setTyping(false);
          }}
        />
      )}
      {shownFault !== undefined && (
        <p class="fault" role="alert">
          {shownFault}
        </p>
      )}
      <p class="hint">
        {hint}
        {blocked === undefined && ` ${formats[media]}, up to ${maxUploadMegabytes[media]}\u00A0MB each.`}
      </p>
    </fieldset>
  );
}

function Chosen({ urls, media, onUrls }: Pick<MediaProps, 'urls' | 'media' | 'onUrls'>) {
  return (
    <ul class="chosen-media">
      {urls.map((url, index) => (
        // The same file may be given twice.
        // oxlint-disable-next-line react/no-array-index-key
        <li key={`${index} ${url}`}>
          <MediaThumbnail url={url} media={media} />
          <bdi class="truncate">{url.split('?')[0]}</bdi>
          <Button
            look="quiet"
            size="small icon"
            aria-label={`Remove ${media} ${index + 1}`}
            onClick={() => onUrls((before) => before.filter((_url, at) => at !== index))}
          >
            <X size={14} />
          </Button>
        </li>
      ))}
    </ul>
  );
}

function ByUrl({ label, onUrl }: { readonly label: string; readonly onUrl: (url: string) => void }) {
  const [typed, setTyped] = useState('');
  const add = () => typed.trim() !== '' && onUrl(typed.trim());
  return (
    <div class="by-url">
      <TextField
        label={label}
        type="url"
        placeholder="https://…"
        value={typed}
        onValue={setTyped}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button onClick={add}>Add</Button>
    </div>
  );
}
