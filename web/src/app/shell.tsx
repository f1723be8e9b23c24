import './shell.css'
import { Link, Outlet } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { StandingIn } from '../account/standing-in.tsx'
import { ConfirmDialog } from '../auth/confirm-dialog.tsx'
import { SessionKeeper } from '../auth/keeper.tsx'
import { signOut, useUser } from '../auth/session.ts'
import { useLive } from '../live/live.ts'
import { useOwnEntries } from '../orders/address/back.tsx'
import { OnTheirWay } from '../orders/decide/on-their-way.tsx'
import { Palette } from '../palette/palette.tsx'
import { useAction } from '../ui/action.ts'
import { announce } from '../ui/announce.ts'
import { describeFailure } from '../ui/describe.ts'
import { SignOutIcon, ThemeIcon } from '../ui/icons.tsx'
import mark from '../ui/mark.svg'
import { Name } from '../ui/name.tsx'
import { turnTheme, useTheme } from '../ui/theme.ts'
import { Keyboard } from './keyboard.tsx'
import { usePages } from './pages.tsx'

const themeNames = { system: 'Theme: automatic', light: 'Theme: light', dark: 'Theme: dark' }

/** The frame around every view of a signed-in person. */
export function Shell() {
  useLive()
  useOwnEntries()
  return (
    <div className="shell">
      <button type="button" className="button skip no-print" onClick={skip}>
        Skip to content
      </button>
      <Side />
      <main id="main" className="main" tabIndex={-1}>
        <div className="main-inner">
          <SessionKeeper />
          <StandingIn />
          <Outlet />
        </div>
        <OnTheirWay />
        <ConfirmDialog />
      </main>
    </div>
  )
}

/** A link to #main would add an address to the history. */
function skip(): void {
  document.getElementById('main')?.focus()
}

function Side() {
  const user = useUser()
  const theme = useTheme()
  const pages = usePages()
  const leaving = useAction(signOut, undefined, (failure) =>
    announce(`You may still be signed in. ${describeFailure(failure).title}.`),
  )
  return (
    <header className="side no-print">
      <Link to="/" className="brand">
        <img src={mark} alt="" width="28" height="28" />
        <span>Countersign</span>
      </Link>
      <nav className="side-links" aria-label="Main">
        {pages
          .filter(({ icon }) => icon !== undefined)
          .map(({ to, name, icon }) => (
            <Link
              key={to}
              to={to}
              className="bare row nowrap gap-3 label soft side-link"
              activeOptions={{ exact: to === '/', includeSearch: false }}
            >
              {icon}
              <span>{name}</span>
            </Link>
          ))}
      </nav>
      <div className="side-foot">
        <Palette pages={pages} />
        <Keyboard />
        <Button className="bare row nowrap gap-3 label soft side-link" onPress={turnTheme}>
          <ThemeIcon />
          <span>{themeNames[theme]}</span>
        </Button>
        <Button className="bare row nowrap gap-3 label soft side-link" onPress={() => leaving.act()}>
          <SignOutIcon />
          <span>Sign out</span>
        </Button>
      </div>
      <Link to="/account" className="row nowrap gap-3 person">
        <span className="visually-hidden">My account:</span>
        <span className="tag person-initial" aria-hidden="true">
          {[...user.userName][0]}
        </span>
        <div className="label person-name">
          <Name of={user.userName} />
          <div className="soft small">{user.roles.join(', ') || 'no role'}</div>
        </div>
      </Link>
    </header>
  )
}
