import { Page } from '../../ui/page.tsx';

export function TaskPage({ taskId }: { readonly taskId: string }) {
  return <Page title={taskId}>{null}</Page>;
}
