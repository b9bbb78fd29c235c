import { useQueryClient } from '@tanstack/preact-query';
import { useContext } from 'preact/hooks';
import { send } from '../../api/call.ts';
import type { GalleryVideo } from '../../api/contract.ts';
import { failureOf } from '../../api/problem.ts';
import { AccountContext, useAction } from '../../api/queries.ts';
import { useRoleReason } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions, DialogBody, DialogButton, waitReason } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Download, Tags, Trash2, X } from '../../ui/icons.ts';
import { toast } from '../../ui/toast.tsx';
import { galleryText } from './gallery-text.ts';
import { TagDialog } from './tag-dialog.tsx';
import type { Selection } from './use-selection.ts';
import '../../ui/selection.css';

type BarProps = { readonly selection: Selection; readonly videos: readonly GalleryVideo[] };

/** The actions on selected videos stay at the lower edge of the window while there are any. */
export function SelectionBar({ selection, videos }: BarProps) {
  const { selected, selectAll, clear } = selection;
  const [viewerReason, memberReason] = [useRoleReason('member'), useRoleReason('owner')];
  const chosen = videos.filter(({ taskId }) => selected.includes(taskId));
  return (
    <div role="region" aria-label={galleryText.selection}>
      <span class="visually-hidden" role="status">
        {selected.length > 0 && galleryText.selected(selected.length)}
      </span>
      {selected.length > 0 && (
        <div class="selection-bar">
          <strong class="number">{galleryText.selected(selected.length)}</strong>
          {selected.length < videos.length && (
            <Button variant="quiet" onClick={selectAll}>
              {galleryText.selectAll}
            </Button>
          )}
          <DownloadButton taskIds={selected} />
          <DialogButton label={galleryText.tagVideos} icon={Tags} disabledReason={viewerReason}>
            {(close) => <TagDialog videos={chosen} onClose={close} />}
          </DialogButton>
          <DialogButton label={galleryText.remove} icon={Trash2} variant="danger" disabledReason={memberReason}>
            {(close) => <DeleteDialog taskIds={selected} onClose={close} />}
          </DialogButton>
          <Button variant="quiet" size="icon" aria-label={galleryText.clearSelection} onClick={clear}>
            <X size={16} />
          </Button>
        </div>
      )}
    </div>
  );
}

/** The browser saves the archive while it arrives. */
function DownloadButton({ taskIds }: { readonly taskIds: readonly string[] }) {
  const account = useContext(AccountContext);
  const archive = useAction(() => send('/api/v1/gallery/archive', { taskIds }, { account }), {
    onDone: ({ url }) => {
      const link = document.createElement('a');
      link.href = url;
      link.download = '';
      link.click();
      toast(galleryText.downloading);
    },
    onError: (problem) => toast(failureOf(problem).sentence, 'bad'),
  });
  return (
    <Button busy={archive.isPending} onClick={() => archive.mutate()}>
      <Download size={16} aria-hidden="true" /> {galleryText.downloadZip}
    </Button>
  );
}

type DeleteProps = { readonly taskIds: readonly string[]; readonly onClose: () => void };

/** Deletes one after the other. After an error, the rest stays selected. */
function DeleteDialog({ taskIds, onClose }: DeleteProps) {
  const account = useContext(AccountContext);
  const client = useQueryClient();
  const refresh = () => void client.invalidateQueries({ predicate: ({ queryKey: [of] }) => of === account });
  const remove = useAction(
    async () => {
      for (const taskId of taskIds) await send('/api/v1/jobs/deleteTask', { taskId }, { account });
      return taskIds.length;
    },
    {
      onDone: (count) => {
        toast(galleryText.removed(count));
        refresh();
        onClose();
      },
      onError: refresh,
    },
  );
  return (
    <Dialog title={galleryText.removeTitle(taskIds.length)} isBusy={remove.isPending} onClose={onClose}>
      <Form class="" submission={remove} onSubmit={() => remove.mutate()}>
        <DialogBody>
          <p>{galleryText.removeEffect}</p>
        </DialogBody>
        <DialogActions>
          <Button disabledReason={remove.isPending ? waitReason : undefined} onClick={onClose}>
            {galleryText.cancel}
          </Button>
          <Button variant="danger primary" type="submit" busy={remove.isPending}>
            {galleryText.remove}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
