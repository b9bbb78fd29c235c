import { erasedUser } from '../../accounts/people/email-and-password-format.ts';
import { maybeOne, one } from '../../platform/database/statement.ts';

/** `name`: the key's name, or the person's e-mail address. */
export type NamedCreator = {
  readonly kind: 'key' | 'person';
  readonly id: string;
  readonly name: string | null;
};

/** SQL for the maker of a row with `key_id` and `user_id`. */
export const creatorJsonSql = `case
    when key_id is not null then
      json_build_object('kind', 'key', 'id', key_id, 'name', (select name from api_keys where api_keys.id = key_id))
    when user_id is not null then
      json_build_object('kind', 'person', 'id', user_id, 'name', coalesce((select email from users where users.id = user_id), '${erasedUser}'))
  end`;

/** The maker of a task; null for a task that an operator started by hand. */
export const creatorColumnSql = `${creatorJsonSql} as "createdBy"`;

export const findTaskCreator = maybeOne<{ readonly createdBy: NamedCreator | undefined }, [taskId: string]>({
  name: 'find-task-maker',
  text: `select ${creatorColumnSql} from tasks where id = $1`,
});

const maxAhead = 1_000;

/** Counts earlier tasks of the same account that are not being generated yet, up to 1,000. */
export const countOwnTasksAhead = one<{ readonly tasks: number }, [taskId: string]>({
  name: 'count-own-tasks-ahead',
  text: `
select count(*)::int as tasks from (
  select from tasks, (select account_id as owner, created_at as since from tasks where id = $1) waiting
  where account_id = owner and state in ('waiting', 'queuing')
    and (created_at, id) < (since, $1)
  limit ${maxAhead}
) ahead`,
});
