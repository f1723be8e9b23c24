import type { Page } from 'playwright-core'

/** A passkey as Chromium exports it, in base64. */
interface Exported {
  credentialId: string
  privateKey: string
  signCount: number
  /** Whether a sign-in finds it without a name. */
  isResidentCredential: boolean
}

export interface PageAuthenticator {
  /** Whether it can tell from now on who touches it. */
  verifiesUser(isVerified: boolean): Promise<unknown>
  credentials(): Promise<Exported[]>
  /** The page no longer reaches it. */
  leave(): Promise<unknown>
}

interface Kind {
  /** Whether it can tell who touches it. */
  isUserVerified?: boolean
  hasResidentKey?: boolean
  /** The credentials that it holds from the start. */
  credentials?: readonly Exported[]
}

/** An authenticator inside Chromium. Add it to a loaded page: a change of origin ends this Chromium. */
export async function newAuthenticator(page: Page, kind: Kind = {}): Promise<PageAuthenticator> {
  const { isUserVerified = true, hasResidentKey = true, credentials = [] } = kind
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  for (const credential of credentials)
    await cdp.send('WebAuthn.addCredential', { authenticatorId, credential })
  return {
    verifiesUser: (isVerified) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: isVerified }),
    credentials: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    leave: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }),
  }
}
