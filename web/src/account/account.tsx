import './account.css'
import { useQuery } from '@tanstack/react-query'
import { sendsMail } from '../auth/mail.ts'
import { inWords } from '../auth/permissions.ts'
import { useSession, useUser } from '../auth/session.ts'
import { SignIns } from '../auth/sign-ins.tsx'
import { Facts } from '../ui/facts.tsx'
import { Unread } from '../ui/failure.tsx'
import { viewerTimeZone } from '../ui/format.ts'
import { Name } from '../ui/name.tsx'
import { PageHead } from '../ui/page-title.tsx'
import { Section } from '../ui/section.tsx'
import { OwnAbsence } from './absence.tsx'
import { PasswordForm } from './change-password.tsx'
import { EmailForm } from './email.tsx'
import { OwnMail } from './mail.tsx'
import { OwnPasskeys } from './passkeys.tsx'
import { accountQuery, endOtherSignIns, endSignIn, signInsQuery } from './queries.ts'

/** The person's own account: name, permissions, password and sign-ins. */
export function AccountView() {
  const { userName } = useUser()
  const query = useQuery(accountQuery)
  const { data } = query
  const signIns = useQuery(signInsQuery)
  return (
    <>
      <PageHead title="My account" />
      <Unread query={query} />
      <div className="account">
        <About email={data?.email} timeZone={data?.timeZone} />
        <PasswordForm
          names={[userName, ...(data === undefined ? [] : [data.email])]}
          hasPassword={data?.hasPassword ?? true}
        />
        {sendsMail && <EmailForm />}
        <OwnPasskeys hasPassword={data?.hasPassword ?? true} />
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
  const session = useSession()
  const may = session.kind === 'signed-in' ? inWords(session.permissions) : []
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
      <h3>What you can do</h3>
      {may.length === 0 ? (
        <p className="soft">Nothing yet. Ask an administrator for a role.</p>
      ) : (
        <ul>
          {may.map((words) => (
            <li key={words}>{words}</li>
          ))}
        </ul>
      )}
      <p className="soft small">An administrator can change your name, email, roles and time zone.</p>
    </Section>
  )
}

/** The web app uses the browser's time zone; the stored one is for other software. */
function zoneInWords(stored: string | null | undefined): string {
  const here = `${viewerTimeZone.replaceAll('_', ' ')}, from this browser`
  if (stored === null || stored === undefined || stored === viewerTimeZone) return here
  return `${here}; ${stored.replaceAll('_', ' ')} in other software`
}
