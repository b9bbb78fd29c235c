import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../../ui/controls/button.tsx';
import { Bell } from '../../../ui/controls/icons.ts';
import { isLive, type TaskView } from '../../tasks/detail/use-task.ts';
import { playgroundText } from '../playground-text.ts';

const storageKey = 'console-notify';

/** Permission alone is not enough: who turned notifications off again keeps the permission. */
function isTurnedOn(): boolean {
  return Notification.permission === 'granted' && localStorage.getItem(storageKey) === 'on';
}

/** Turns notifications on and off. The browser requests the permission at the click, never before. */
export function NotifyButton() {
  const [isOn, setOn] = useState(isSupported && isTurnedOn());
  const [isBlocked, setBlocked] = useState(isSupported && Notification.permission === 'denied');
  if (!isSupported) return null;
  const toggle = async () => {
    const permission = isOn ? 'default' : await Notification.requestPermission();
    localStorage.setItem(storageKey, permission === 'granted' ? 'on' : 'off');
    setOn(isTurnedOn());
    setBlocked(permission === 'denied');
  };
  return (
    <Button
      size="small"
      aria-pressed={isOn}
      disabledReason={isBlocked ? playgroundText.notifyBlocked : undefined}
      onClick={() => void toggle()}
    >
      <Bell size={14} aria-hidden="true" /> {isOn ? playgroundText.notifyOn : playgroundText.notify}
    </Button>
  );
}

/** Browsers offer notifications to https and loopback only. */
const isSupported = typeof Notification !== 'undefined' && isSecureContext;

/** The progress for the title of the tab while tasks run, and after their end until the tab is seen; a hidden tab also notifies. */
export function useProgressTitleAndNotify(views: readonly TaskView[], count: number): string | undefined {
  const [isUnseen, setUnseen] = useState(false);
  const wasLive = useRef(false);
  const ended = views.filter(({ task }) => !isLive(task));
  const isRunning = ended.length < views.length;
  useEffect(() => {
    if (!isRunning && wasLive.current && isHidden()) {
      setUnseen(true);
      notify(ended);
    }
    wasLive.current = isRunning;
  }, [isRunning]);
  useEffect(() => {
    const see = () => !isHidden() && setUnseen(false);
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, []);
  return isRunning || (isUnseen && count > 0) ? playgroundText.done(ended.length, count) : undefined;
}

function isHidden(): boolean {
  return document.visibilityState === 'hidden';
}

function notify(ended: readonly TaskView[]): void {
  if (!isSupported || !isTurnedOn()) return;
  const succeeded = ended.filter(({ task }) => task.state === 'success').length;
  try {
    const notification = new Notification(playgroundText.notifiedTitle(succeeded, ended.length), {
      body: playgroundText.notifiedBody(ended.length - succeeded),
      tag: 'console-playground',
    });
    notification.addEventListener('click', () => {
      window.focus();
      notification.close();
    });
  } catch {
    // Chrome for Android only lets service workers notify.
  }
}
