import { minPasswordLength } from '../../../accounts/people/email-and-password-format.ts';
import { brand } from '../../api/page-brand.ts';

/** Every string of the pages before a sign-in. */
export const signInText = {
  signIn: 'Sign in',
  byInvitation: 'You need an invitation to create an account. Ask an account owner or the operator.',
  email: 'E-mail',
  password: 'Password',
  accountName: 'Account name',
  accountNameHint: 'Your company or project. Members of the account see it.',
  signUp: 'Create an account',
  passkey: 'Use a passkey',
  forgotten: 'Forgot your password? An operator can create a reset link.',
  continueWith: (provider: string) => `Continue with ${provider}`,
  notSignedIn: 'You are not signed in',
  goToSignIn: 'Go to sign-in',
  goBack: 'Go back to the page',
  notConfirmed: 'Not confirmed',
  nothingChanged: 'Nothing was changed',
  needsSetUp: {
    title: 'Set up this service',
    lead: 'This service has no operator yet.',
    notice: 'Open the setup link',
    where:
      'It was printed in the terminal when the service started, and expires after 30 minutes. Restart the service to print a new one.',
    canSignIn: 'Sign in with a password',
  },
  oidcFailures: {
    oidc_unavailable: 'Your identity provider did not respond. Try again later, or sign in another way.',
    oidc_expired: 'Signing in at your identity provider took too long. Try again.',
    oidc_failed: 'Your identity provider did not confirm your identity. Try again.',
    oidc_not_invited:
      'You don’t have an invitation yet, or your identity provider has not confirmed your e-mail. Ask an account owner or the operator, then try again.',
  } as Readonly<Record<string, string>>,
  links: {
    setup: {
      title: `Set up ${brand.name}`,
      action: 'Create the first account',
      lead: 'Creates the first account. You’ll own it, and operate the service.',
      expired: 'Restart the service to print a new link.',
    },
    invite: {
      title: 'You are invited',
      action: 'Accept and sign in',
      lead: 'Choose a password.',
      expired: 'Ask for a new invitation.',
    },
    reset: {
      title: 'Set a new password',
      action: 'Set password and sign in',
      lead: 'You will be signed out on all other devices.',
      expired: 'Ask an operator for a new link.',
    },
    confirm: {
      title: 'Create your account',
      action: 'Create account',
      lead: 'Choose a password to open your account.',
      expired: 'Sign up again to get a new link, or sign in if you have an account.',
    },
  },
  invalidLink: 'This link can’t be opened',
  invalidReason: 'It has expired, was used, or is incomplete. After a reload, open it again',
  byProvider: (provider: string) => `Sign in with ${provider} to accept this invitation.`,
  yourProvider: 'your identity provider',
  invited: (hasPassword: boolean, account: string | null, role: string | null) => {
    const which = hasPassword ? 'Enter your password' : 'Choose a password';
    if (account === null) return `${which} to operate this service.`;
    return `${which} to join ${account}${role === null ? '' : ` as ${role}`}.`;
  },
  existingHint: 'Your existing password.',
  passwordHint: `At least ${minPasswordLength} characters of any kind. A few random words make a good password.`,
} as const;
