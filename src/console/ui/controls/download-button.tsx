import { download } from '../../api/download.ts';
import { failureOf } from '../../api/problem.ts';
import { useAction } from '../../api/queries.ts';
import { Button } from './button.tsx';
import { Download } from './icons.ts';
import { toast } from '../feedback/toast.tsx';

type DownloadProps = {
  readonly address: string;
  /** Undefined for files of operators. */
  readonly account: string | undefined;
  /** The file is saved under this name. */
  readonly name: string;
  readonly label: string;
};

/** Saves a file that the service writes. */
export function DownloadButton({ address, account, name, label }: DownloadProps) {
  const save = useAction(() => download(address, account, name), {
    onError: (problem) => toast(failureOf(problem).sentence, 'bad'),
  });
  return (
    <Button busy={save.isPending} onClick={() => save.mutate()}>
      <Download size={16} aria-hidden="true" /> {label}
    </Button>
  );
}
