import type { Page } from 'playwright-core'

export interface PageAuthenticator {
  /** Whether it can tell from now on who touches it. */
  verifiesUser(isVerified: boolean): Promise<unknown>
}

/**
 * An authenticator inside Chromium; without `isUserVerified`, it cannot tell who touches it. Add it to a page
 * that is loaded: a change of origin ends this Chromium.
 */
export async function newAuthenticator(page: Page, isUserVerified = true): Promise<PageAuthenticator> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return {
    verifiesUser: (isVerified) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: isVerified }),
  }
}
