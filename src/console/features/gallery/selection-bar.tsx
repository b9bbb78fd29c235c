import { useContext } from 'preact/hooks';
import { send } from '../../api/call.ts';
import type { GalleryVideo } from '../../api/contract.ts';
import { useSudoAction } from '../../api/read-and-send-hooks.ts';
import { AccountContext } from '../../api/account-context.ts';
import { useNotAllowedReason } from '../../api/session.ts';
import { ActionDialog } from '../../ui/forms/action-dialog.tsx';
import { Button } from '../../ui/controls/button.tsx';
import { DialogButton } from '../../ui/forms/dialog.tsx';
import { Download, Tags, Trash2, X } from '../../ui/controls/icons.ts';
import { toast, toastFailure } from '../../ui/feedback/toast.tsx';
import { galleryText } from './gallery-text.ts';
import { TagDialog } from './tag-dialog.tsx';
import type { VideoSelection } from './use-video-selection.ts';
import '../../ui/lists/selection.css';

type BarProps = { readonly selection: VideoSelection; readonly videos: readonly GalleryVideo[] };

/** The actions on selected videos stay at the lower edge of the window while there are any. */
export function SelectionBar({ selection, videos }: BarProps) {
  const { selected, selectAll, clear } = selection;
  const [memberReason, ownerReason] = [useNotAllowedReason('member'), useNotAllowedReason('owner')];
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
          <DialogButton label={galleryText.tagVideos} icon={Tags} disabledReason={memberReason}>
            {(close) => <TagDialog videos={chosen} onClose={close} />}
          </DialogButton>
          <DialogButton label={galleryText.remove} icon={Trash2} variant="danger" disabledReason={ownerReason}>
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
  const archive = useSudoAction(() => send('/api/v1/gallery/archive', { taskIds }, { account }), {
    onDone: ({ url }) => {
      const link = document.createElement('a');
      link.href = url;
      link.download = '';
      link.click();
      toast(galleryText.downloading);
    },
    onError: toastFailure,
  });
  return (
    <Button busy={archive.isPending} onClick={() => archive.mutate()}>
      <Download size={16} aria-hidden="true" /> {galleryText.downloadZip}
    </Button>
  );
}

type DeleteProps = { readonly taskIds: readonly string[]; readonly onClose: () => void };

function DeleteDialog({ taskIds, onClose }: DeleteProps) {
  return (
    <ActionDialog
      path="/api/v1/jobs/deleteTasks"
      title={galleryText.removeTitle(taskIds.length)}
      action={galleryText.remove}
      isDanger
      body={() => ({ taskIds })}
      done={({ tasks }) => galleryText.removed(tasks.filter(({ deleted }) => deleted).length)}
      effect={galleryText.removeEffect}
      onClose={onClose}
    />
  );
}
