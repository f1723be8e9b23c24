import { roleNames } from '../auth/accounts/roles/store.ts'
import { CompanyFailure } from '../auth/credentials/company/failure.ts'
import { systemClock } from '../clock.ts'
import { claimRolesOf, readCompany, readPublicUrl } from '../config.ts'
import { systemNames } from '../names.ts'
import type { Invocation, Outcome } from './command.ts'
import { databaseOf, refuseMissingDatabase, withDatabaseToRead } from './database.ts'
import { Refused } from './failures.ts'

const path = '/v1/auth/session/company'

/** Throws `Refused` with the cause. */
export async function runCheckCompany(invocation: Invocation): Promise<Outcome> {
  const settings = readCompany(process.env, invocation)
  if (settings === undefined)
    throw new Refused('company-account-off', 'OIDC_ISSUER is not set: there is no company account')
  const publicUrl = readPublicUrl(process.env, invocation)
  const { CompanyProvider } = await import('../auth/credentials/company/provider.ts')
  const provider = new CompanyProvider({ settings, resolve: systemNames(), clock: systemClock })
  const redirectUri = `${publicUrl}${path}/callback`
  try {
    const { metadata, keys } = await provider.look(redirectUri)
    const unknownRoles = await unknownOf(invocation, claimRolesOf({ oidcRoles: settings.roles }))
    const sendsLogouts = metadata.backchannel_logout_supported === true
    const value = {
      issuer: settings.issuer,
      keys,
      redirectUri,
      logoutUri: `${publicUrl}${path}/logout`,
      sendsLogouts,
      unknownRoles,
    }
    const lines = [
      `${settings.issuer} answers, publishes ${keys} ${keys === 1 ? 'key' : 'keys'}, and accepts the secret.`,
      `Redirect URI: ${redirectUri}`,
      sendsLogouts
        ? `Back-channel logout URI: ${value.logoutUri}`
        : 'It sends no back-channel logouts: a session here ends by itself.',
      ...unknownRoles.map((role) => `OIDC_ROLES: there is no role ${role}, so nobody gets it.`),
    ]
    return { value, text: lines.join('\n') }
  } catch (error) {
    if (!(error instanceof CompanyFailure)) throw error
    throw new Refused(error.code, `${settings.issuer}: ${error.message}`)
  }
}

/** Those of these roles that do not exist. */
async function unknownOf(invocation: Invocation, roles: readonly string[]): Promise<string[]> {
  if (roles.length === 0) return []
  refuseMissingDatabase(databaseOf(invocation).databaseUrl)
  const known = await withDatabaseToRead(invocation, ({ read }) => roleNames(read))
  return roles.filter((role) => !known.includes(role))
}
