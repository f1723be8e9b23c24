import { answerOf, client } from '../api/client.ts'
import { ofThisPerson } from './session.ts'

/** The name of the company account, if people can sign in with one: the service puts it into the page. */
export const companyName = document.querySelector<HTMLMetaElement>('meta[name="company"]')?.content

/** Signing in leaves the page: the provider sends the browser back. */
export const companySignIn = (to: string) =>
  `/v1/auth/session/company?${new URLSearchParams({ returnTo: to })}`

/** Whether the person who is signed in has linked one. */
export async function hasCompanyAccount(): Promise<boolean> {
  if (companyName === undefined) return false
  const account = await answerOf(client.GET('/v1/auth/me/account'))
  return account.hasCompanyAccount
}

const here = () => ({ params: { query: { returnTo: location.pathname + location.search } } })

/** Leaves the page, unless the person who asked for that has gone meanwhile. */
async function leave(begin: () => Promise<{ url: string }>): Promise<void> {
  const { url } = await ofThisPerson(begin)()
  location.assign(url)
}

export const confirmByCompany = () =>
  leave(() => answerOf(client.POST('/v1/auth/session/confirm/company', here())))

export const linkCompany = () => leave(() => answerOf(client.POST('/v1/auth/company', here())))

export const linkByOneTimeLink = (token: string) =>
  leave(() => answerOf(client.POST('/v1/auth/links/use/company', { body: { token } })))

const tryAgain = 'Try again. If it keeps failing, ask an administrator: the log of the service has the cause.'

/** Why an attempt failed, by the code of the problem, and what to do. */
const reasons: Record<string, string> = {
  'company-account-unreachable':
    'The company account cannot be reached right now. Use a password or a passkey, or try again later.',
  'company-account-refused': 'The company account did not let you in. Ask its administrator for access.',
  'company-answer-invalid': `The answer of the company account could not be trusted. ${tryAgain}`,
  'company-attempt-invalid': 'That attempt has ended. Begin again, in one tab, within ten minutes.',
  'company-account-unknown':
    'No account here is linked to that company account. Sign in another way and link it under “My account”, or ask an administrator for a link.',
  'company-account-taken':
    'That company account is linked to someone else here. Use your own, or ask an administrator.',
  'company-account-linked': 'Your account has another company account. Unlink it first.',
  'company-account-other': 'That is not the company account that is linked to your account.',
  'cross-site-request': 'Another site sent you here to sign in. If you want to, use the button below.',
  'company-email-unusable':
    'That company account has no email that can be used here. Ask an administrator for an account.',
  'company-email-taken':
    'There is an account with that email. If it is yours, sign in to it another way, and link the company account under “My account”.',
  'company-sign-in-not-recent':
    'The company account does not say that you have just signed in. Confirm with a password or a passkey.',
  'recent-sign-in-needed': 'Your last sign-in was too long ago by then. Begin again.',
  'account-disabled': 'Your account is disabled. Ask an administrator.',
  'link-not-found': 'The link is no longer valid. Ask for a new one.',
  'authentication-required': 'Your session had ended by then. Sign in, and begin again.',
}

export function reasonFor(code: string): string {
  return reasons[code] ?? `Signing in with the company account failed. ${tryAgain}`
}
