import { useIsOperatorPage, useAccount } from '../../../api/session.ts';
import { operatorPaths, accountPaths } from '../../../paths.ts';

/** Addresses of tasks in the area of the reader. */
export function useTaskPagePaths() {
  const isOperator = useIsOperatorPage();
  const { accountId } = useAccount();
  return {
    list: isOperator ? operatorPaths.tasks : accountPaths.tasks(accountId),
    of: (taskId: string) => (isOperator ? operatorPaths.task(taskId) : accountPaths.task(accountId, taskId)),
  };
}
