import './account.css'
import { useQuery } from '@tanstack/react-query'
import { Button } from 'react-aria-components/Button'
import { companyName } from '../auth/company.ts'
import { sendsMail } from '../auth/mail.ts'
import { useUser } from '../auth/session.ts'
import { SignIns } from '../auth/sign-ins.tsx'
import { Facts } from '../ui/facts.tsx'
import { Unread } from '../ui/failure.tsx'
import { ownTimeZone, viewerTimeZone } from '../ui/format.ts'
import { Name } from '../ui/name.tsx'
import { PageHead } from '../ui/page-title.tsx'
import { Section } from '../ui/section.tsx'
import { Segments } from '../ui/segments.tsx'
import { keysShown } from '../ui/shortcuts.ts'
import { setTheme, themes, useTheme } from '../ui/theme.ts'
import { OwnAbsence } from './absence.tsx'
import { PasswordForm } from './change-password.tsx'
import { OwnCompanyAccount } from './company.tsx'
import { EmailForm } from './email.tsx'
import { OwnMail } from './mail.tsx'
import { OwnPasskeys } from './passkeys.tsx'
import { accountQuery, endOtherSignIns, endSignIn, signInsQuery } from './queries.ts'

/** The person's own account: name, password, sign-ins, and how this browser shows the app. */
export function AccountView() {
  const { userName } = useUser()
  const query = useQuery(accountQuery)
  const { data } = query
  const signIns = useQuery(signInsQuery)
  return (
    <>
      <PageHead title="My account" />
      <Unread query={query} />
      <div className="columns gap-5 account">
        <div className="stack gap-5">
          <About email={data?.email} timeZone={data?.timeZone} />
          <ThisBrowser />
        </div>
        <PasswordForm
          names={[userName, ...(data === undefined ? [] : [data.email])]}
          hasPassword={data?.hasPassword ?? true}
        />
        {sendsMail && <EmailForm />}
        <OwnPasskeys hasPassword={data?.hasPassword ?? true} />
        {companyName !== undefined && data !== undefined && (
          <OwnCompanyAccount isLinked={data.hasCompanyAccount} />
        )}
        <OwnAbsence />
        {sendsMail && <OwnMail />}
        <SignIns
          title="Where you are signed in"
          found={signIns}
          endOne={endSignIn}
          endMany={endOtherSignIns}
          many={{ label: 'Sign out everywhere else', done: 'You are signed out everywhere else.' }}
        />
      </div>
    </>
  )
}

function About({ email, timeZone }: { email: string | undefined; timeZone: string | null | undefined }) {
  const user = useUser()
  return (
    <Section title="About you">
      <Facts
        of={{
          Name: <Name of={user.userName} />,
          Email: email ?? '…',
          [user.roles.length === 1 ? 'Role' : 'Roles']: user.roles.join(', ') || 'None',
          'Time zone': zoneInWords(timeZone),
        }}
      />
      <p className="soft small">An administrator can change your name, email, roles and time zone.</p>
    </Section>
  )
}

/** Settings that only this browser keeps. */
function ThisBrowser() {
  return (
    <Section title="This browser">
      <h3>Theme</h3>
      <Segments name="theme" legend="Theme" options={themes} value={useTheme()} onChoose={setTheme} />
      <div className="row">
        <Button className="button keys-only" aria-keyshortcuts="?" onPress={() => keysShown.set(true)}>
          Keyboard shortcuts
        </Button>
      </div>
    </Section>
  )
}

/** The web app uses the browser's time zone; the stored one is for other software. */
function zoneInWords(stored: string | null | undefined): string {
  const source = ownTimeZone === undefined ? 'because this browser names no time zone' : 'from this browser'
  const here = `${viewerTimeZone.replaceAll('_', ' ')}, ${source}`
  if (stored === null || stored === undefined || stored === viewerTimeZone) return here
  return `${here}; ${stored.replaceAll('_', ' ')} in other software`
}
