import { useContext } from 'preact/hooks';
import { download } from '../../api/download.ts';
import { useSudoAction } from '../../api/read-and-send-hooks.ts';
import { AccountContext } from '../../api/account-context.ts';
import { Button } from './button.tsx';
import { Download } from './icons.ts';
import { toastFailure } from '../feedback/toast.tsx';

type DownloadProps = {
  readonly address: string;
  /** The file is saved under this name. */
  readonly name: string;
  readonly label: string;
};

/** Saves a file that the service writes. */
export function DownloadButton({ address, name, label }: DownloadProps) {
  const account = useContext(AccountContext);
  const save = useSudoAction(() => download(address, account, name), { onError: toastFailure });
  return (
    <Button busy={save.isPending} onClick={() => save.mutate()}>
      <Download size={16} aria-hidden="true" /> {label}
    </Button>
  );
}
