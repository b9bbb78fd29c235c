import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { skipWithoutBrowser } from '../../support/console/browser.ts';
import {
  assertAccessible,
  becomes,
  closeDialog,
  password,
  startVisitor,
  type Visitor,
} from '../../support/console/console-visitor.ts';
import { type HttpService, startHttpService } from '../../support/service/http-service.ts';
import { waitFor } from '../../support/wait-for.ts';

// Who may use an account, by the pages of its owner and of those who come in.

const skip = skipWithoutBrowser();

let service: HttpService;
let visitor: Visitor;
let passwordSignIn = true;
before(async () => {
  if (skip !== false) return;
  service = await startHttpService({
    console: {
      get publicUrl() {
        return service.url;
      },
      get passwordSignIn() {
        return passwordSignIn;
      },
    },
  });
  visitor = await startVisitor({ baseUrl: service.url, database: service.database });
});
afterEach(async () => {
  if (skip === false) await visitor.closeTabs();
});
after(async () => {
  if (skip !== false) return;
  await visitor.close();
  await service.close();
});

const roleNames = { owner: 'Owner', member: 'Member', viewer: 'Viewer' } as const;

async function ownerOfNewAccount() {
  const { accountId } = await service.newAccount(1_000);
  const owner = await visitor.signedIn({ [accountId]: 'owner' });
  const invite = async (email: string, role: keyof typeof roleNames) => {
    const { page } = owner;
    await page.goto(`${service.url}/console/a/${accountId}/members`);
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByLabel('E-mail').fill(email);
    await page.getByRole('dialog').getByText(roleNames[role], { exact: true }).click();
    await page.getByRole('button', { name: 'Create link' }).click();
    const link = await page
      .getByRole('dialog', { name: `Invitation for ${email}` })
      .locator('.secret code')
      .innerText();
    await closeDialog(page, 'Done');
    return link;
  };
  return { accountId, owner, invite };
}

test('an owner invites somebody by a link, gives another role, and takes them out', { skip }, async () => {
  const { accountId, owner, invite } = await ownerOfNewAccount();
  const link = await invite('carol@example.com', 'viewer');
  const members = owner.page.getByRole('table', { name: 'Members' });
  await owner.page.getByRole('table', { name: 'Open invitations' }).getByText('carol@example.com').waitFor();
  assert.ok(!(await owner.page.content()).includes(link));

  const carol = await visitor.open();
  await carol.page.goto(link);
  await carol.page.getByText('Choose a password to join test as viewer.').waitFor();
  await carol.page.getByLabel('Password').fill(password);
  await carol.page.getByRole('button', { name: 'Accept and sign in' }).click();
  await carol.page.getByRole('heading', { name: 'Overview' }).waitFor();
  await carol.page.getByRole('heading', { name: 'First steps' }).waitFor();
  assert.equal(await carol.page.getByRole('link', { name: 'Create a key' }).count(), 0);
  await carol.page.goto(`${service.url}/console/a/${accountId}/keys`);
  await carol.page.getByText('Only owners of this account can view and create keys.').waitFor();

  await owner.page.reload();
  const row = members.getByRole('row', { name: /carol@example\.com/ });
  const choice = row.getByRole('combobox', { name: 'Role of carol@example.com' });
  const asked = owner.page.getByRole('dialog', { name: 'Change the role of carol@example.com?' });
  // One key chooses from a closed list, so nothing is changed before it is asked.
  await choice.press('ArrowUp');
  await asked.getByText('Viewer becomes Member').waitFor();
  await asked.getByText('They will be signed out everywhere').waitFor();
  await assertAccessible(owner.page, 'the dialog of a role');
  await owner.page.keyboard.press('Escape');
  await asked.waitFor({ state: 'detached' });
  await becomes('the role', () => choice.and(owner.page.locator(':focus')).inputValue(), 'viewer');
  await carol.page.reload();
  await carol.page.getByText('Only owners of this account can view and create keys.').waitFor();
  await choice.selectOption('owner');
  await asked.waitFor();
  await becomes('the role', () => choice.inputValue(), 'viewer');
  await asked.getByRole('button', { name: 'Change role' }).click();
  // The message, and the row that its event adds to the list below.
  await owner.page.getByText('Role changed').first().waitFor();
  await carol.page.reload();
  await carol.page.getByLabel('E-mail').fill('carol@example.com');
  await carol.page.getByLabel('Password').fill(password);
  await carol.page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await carol.page.getByRole('heading', { name: 'API keys' }).waitFor();

  await row.getByRole('button', { name: 'Remove carol@example.com' }).click();
  await owner.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await carol.page.reload();
  await carol.page.getByText('You don’t have access to this page').waitFor();
  assert.deepEqual([...owner.errors, ...carol.errors], []);
});

test('an owner who lowers their own role sees at once what they may still do', { skip }, async () => {
  const { accountId, owner, invite } = await ownerOfNewAccount();
  await visitor.newPerson({ [accountId]: 'owner' });
  await invite('dora@example.com', 'viewer');
  await owner.page.getByRole('combobox', { name: `Role of ${owner.email}` }).selectOption('viewer');
  await owner.page.getByRole('button', { name: 'Change role' }).click();
  const inviting = owner.page.getByRole('button', { name: 'Invite', exact: true });
  await waitFor('the role of a viewer', async () =>
    (await inviting.getAttribute('aria-disabled')) === 'true' ? true : undefined,
  );
  assert.deepEqual(owner.errors, []);
});

test('somebody who has a password is asked for that one, and joins with it', { skip }, async () => {
  const { accountId, invite } = await ownerOfNewAccount();
  const email = await visitor.newPerson({});
  const link = await invite(email, 'member');
  const { page, errors } = await visitor.open();
  await page.goto(link);
  await page.getByText('Enter your password to join test as member.').waitFor();
  const field = page.getByLabel('Password');
  assert.equal(await field.getAttribute('autocomplete'), 'current-password');
  await assertAccessible(page, 'an invitation to somebody who is known');
  await field.fill('a password of their choice');
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.getByRole('alert').filter({ hasText: 'Wrong e-mail or password' }).waitFor();
  await field.fill(password);
  await page.getByRole('button', { name: 'Accept and sign in' }).click();
  await page.waitForURL((url) => url.pathname.endsWith(`/a/${accountId}`));
  assert.deepEqual(errors, []);
});

test('where passwords are off, an invitation leads to the sign-in and asks for none', { skip }, async () => {
  const { invite } = await ownerOfNewAccount();
  const link = await invite('dora@example.com', 'member');
  passwordSignIn = false;
  try {
    const { page } = await visitor.open();
    await page.goto(link);
    await page.getByText(/to accept this invitation/).waitFor();
    assert.equal(await page.getByLabel('Password').count(), 0);
  } finally {
    passwordSignIn = true;
  }
});

test(
  'a person sees where they are signed in, ends the others, and a new password ends them, too',
  { skip },
  async () => {
    const { accountId } = await service.newAccount(0);
    const { page, email } = await visitor.signedIn({ [accountId]: 'member' });
    const settings = `${service.url}/console/a/${accountId}/security`;
    const elsewhere = async () => {
      const other = await visitor.tabOf(email);
      await other.open();
      return other.page;
    };
    const sessions = page.getByRole('table', { name: 'Where you are signed in' }).locator('tbody tr');
    const isOut = (one: typeof page) =>
      one.reload().then(() => one.getByRole('heading', { name: 'Sign in' }).waitFor());

    const first = await elsewhere();
    await page.goto(settings);
    await becomes('the number of sessions', () => sessions.count(), 2);
    await page.getByRole('button', { name: /^Sign out (?!all)/ }).click();
    await page.getByText('Session ended').waitFor();
    await isOut(first);

    const second = await elsewhere();
    await page.reload();
    await page.getByRole('button', { name: 'Sign out all others' }).click();
    await page.getByText('All other sessions ended').waitFor();
    await isOut(second);

    const third = await elsewhere();
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill('qwerty123456');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText(/too common/).waitFor();
    await page.getByLabel('New password').fill('a wholly new passphrase');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Password changed').waitFor();
    await isOut(third);
    await page.reload();
    await page.getByRole('heading', { name: 'Security' }).waitFor();
  },
);
