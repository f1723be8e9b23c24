import './shell.css'
import { Link, Outlet } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { StandingIn } from '../account/standing-in.tsx'
import { useAction } from '../auth/action.ts'
import { ConfirmDialog } from '../auth/confirm-dialog.tsx'
import { SessionKeeper } from '../auth/keeper.tsx'
import { signOut, useUser } from '../auth/session.ts'
import { SignOutQuestion } from '../auth/sign-out-question.tsx'
import { useLive } from '../live/live.ts'
import { OnTheirWay } from '../orders/decide/on-their-way.tsx'
import { announce } from '../ui/announce.ts'
import { describeFailure } from '../ui/describe.ts'
import { OrdersIcon, OverviewIcon, SettingsIcon, SignOutIcon } from '../ui/icons.tsx'
import mark from '../ui/mark.svg'
import { Name } from '../ui/name.tsx'
import { Keyboard } from './keyboard.tsx'
import { useOpenSetting, useSettings } from './settings.tsx'

const sideLink = 'bare row nowrap gap-3 label soft side-link'

/** The frame around every view of a signed-in person. */
export function Shell({ children = <Outlet /> }: { children?: ReactNode }) {
  useLive()
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
          {children}
        </div>
        <OnTheirWay />
        <ConfirmDialog />
        <Keyboard />
        <SignOutQuestion />
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
  const [setting] = useSettings()
  const isInSettings = useOpenSetting() !== undefined
  const leaving = useAction(signOut, undefined, (failure) =>
    announce(`You may still be signed in. ${describeFailure(failure).title}.`),
  )
  return (
    <header className="side no-print">
      <Link to="/" className="brand" aria-label="Countersign">
        <img src={mark} alt="" width="28" height="28" />
        <span>Countersign</span>
      </Link>
      <nav className="side-links" aria-label="Main">
        <Link to="/" className={sideLink} activeOptions={{ exact: true }} aria-keyshortcuts="h">
          <OverviewIcon />
          <span>Overview</span>
        </Link>
        <Link
          to="/orders"
          className={sideLink}
          activeOptions={{ includeSearch: false }}
          aria-keyshortcuts="o"
        >
          <OrdersIcon />
          <span>Orders</span>
        </Link>
        {setting && (
          <Link to={setting.to} className={sideLink} {...(isInSettings && { 'aria-current': 'page' })}>
            <SettingsIcon />
            <span>Settings</span>
          </Link>
        )}
      </nav>
      <button type="button" className="bare side-menu-button" popoverTarget={menuId} aria-label="Menu">
        <Initial of={user.userName} />
      </button>
      <div id={menuId} popover="auto" className="side-menu">
        <Button className={`${sideLink} side-end`} onPress={() => [closeMenu(), leaving.act()]}>
          <SignOutIcon />
          <span>Sign out</span>
        </Button>
        <Link to="/account" className="row nowrap gap-3 person" onClick={closeMenu}>
          <span className="visually-hidden">My account:</span>
          <Initial of={user.userName} />
          <div className="label clip">
            <Name of={user.userName} />
            <div className="soft small">{user.roles.join(', ') || 'no role'}</div>
          </div>
        </Link>
      </div>
    </header>
  )
}

/** On a wide screen, its content is a part of the side. */
const menuId = 'side-menu'
const closeMenu = () => document.getElementById(menuId)?.hidePopover()

function Initial({ of }: { of: string }) {
  return (
    <span className="tag person-initial" aria-hidden="true">
      {[...of][0]}
    </span>
  )
}
