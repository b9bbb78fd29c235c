import { erasedUser } from '../../accounts/people/erasure.ts';
import { maybeOne } from '../../platform/database/declare-statements.ts';

/** `name`: the key's name, or the person's e-mail address. */
export type NamedCreator = {
  readonly kind: 'key' | 'person';
  readonly id: string;
  readonly name: string | null;
};

/** SQL for the creator of a row with `key_id` and `user_id`. */
export const creatorJsonSql = `case
    when key_id is not null then
      json_build_object('kind', 'key', 'id', key_id, 'name', (select name from api_keys where api_keys.id = key_id))
    when user_id is not null then
      json_build_object('kind', 'person', 'id', user_id, 'name', coalesce((select email from users where users.id = user_id), '${erasedUser}'))
  end`;

/** The creator of a task; null for a task that an operator started by hand. */
export const creatorColumnSql = `${creatorJsonSql} as "createdBy"`;

export const findTaskCreator = maybeOne<{ readonly createdBy: NamedCreator | undefined }, [taskId: string]>({
  name: 'find-task-creator',
  text: `select ${creatorColumnSql} from tasks where id = $1`,
});
