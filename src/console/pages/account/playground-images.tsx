import { ImagePlus, Link2 } from './icons.ts';
import { X } from '../../ui/icons.ts';
import { useRef, useState } from 'preact/hooks';
import { maxUploadBytes, maxUploadMegabytes, uploadTypes } from '../../../media/upload.ts';
import { upload } from '../../api/call.ts';
import { failureOf } from '../../api/problem.ts';
import { useAccount } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';

type ImagesProps = {
  readonly urls: readonly string[];
  readonly max: number;
  readonly fault: string | undefined;
  /** Called with a function of the current images. */
  readonly onUrls: (change: (urls: readonly string[]) => readonly string[]) => void;
};

const maxMegabytes = maxUploadMegabytes.image;

/** Reference images: addresses that the service can reach, or files that are uploaded to it. */
export function ReferenceImages({ urls, max, fault, onUrls }: ImagesProps) {
  const { accountId } = useAccount();
  const [typed, setTyped] = useState('');
  const [isTyping, setTyping] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [uploadFault, setUploadFault] = useState<string>();
  const picker = useRef<HTMLInputElement>(null);
  const full = urls.length >= max ? `At most ${max} images` : undefined;
  const add = () => {
    const url = typed.trim();
    if (url === '') return;
    onUrls((before) => [...before, url]);
    setTyped('');
    setTyping(false);
  };
  const send = async (files: readonly File[]) => {
    setBusy(true);
    setUploadFault(undefined);
    try {
      for (const file of files.slice(0, max - urls.length)) {
        if (file.size > maxUploadBytes('image')) throw new Error(`${file.name} is larger than ${maxMegabytes} MB`);
        const { url, previewUrl } = await upload(file, { account: accountId });
        previews.set(url, previewUrl);
        onUrls((before) => [...before, url]);
      }
    } catch (error) {
      setUploadFault(error instanceof Error && error.name === 'Error' ? error.message : failureOf(error).sentence);
    } finally {
      setBusy(false);
    }
  };
  return (
    <fieldset class="field">
      <legend>Reference images</legend>
      {urls.length > 0 && (
        <ul class="chosen-images">
          {urls.map((url, index) => (
            // The same image may be given twice.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={`${index} ${url}`}>
              <Thumbnail url={previews.get(url)} />
              <bdi class="truncate">{nameOf(url)}</bdi>
              <Button
                look="quiet"
                size="small icon"
                aria-label={`Remove image ${index + 1}`}
                onClick={() => onUrls((before) => before.filter((_url, at) => at !== index))}
              >
                <X size={14} />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <div class="row">
        <Button size="small" busy={isBusy} disabledReason={full} onClick={() => picker.current?.click()}>
          <ImagePlus size={14} aria-hidden="true" /> Upload
        </Button>
        <Button size="small" disabledReason={full} onClick={() => setTyping(!isTyping)} aria-expanded={isTyping}>
          <Link2 size={14} aria-hidden="true" /> By URL
        </Button>
        <input
          ref={picker}
          type="file"
          hidden
          multiple
          accept={uploadTypes.image.join(',')}
          aria-label="Files of reference images"
          onChange={(event) => {
            const { files } = event.currentTarget;
            if (files !== null && files.length > 0) void send([...files]);
            event.currentTarget.value = '';
          }}
        />
      </div>
      {isTyping && (
        <div class="by-url">
          <TextField
            label="URL of an image"
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
      )}
      {(uploadFault ?? fault) !== undefined && (
        <p class="fault" role="alert">
          {uploadFault ?? fault}
        </p>
      )}
      <p class="hint">
        Optional, at most {max}. JPEG, PNG or WebP, up to {maxMegabytes}&nbsp;MB each.
      </p>
    </fieldset>
  );
}

/** Only what was uploaded here can be shown: the address in a task leads nowhere, and the page loads nothing from other hosts. */
const previews = new Map<string, string>();

function Thumbnail({ url }: { readonly url: string | undefined }) {
  const [isBroken, setBroken] = useState(false);
  if (url === undefined || isBroken) return <Link2 size={16} aria-hidden="true" />;
  return <img src={url} alt="" onError={() => setBroken(true)} />;
}

function nameOf(url: string): string {
  return url.split('?')[0] ?? url;
}
