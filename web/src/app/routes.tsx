import {
  type AnyRoute,
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  useLocation,
  useNavigate,
} from '@tanstack/react-router'
import { type ComponentType, useEffect, useState } from 'react'
import { innerAddress } from '../auth/inner-address.ts'
import { startSession, useSession } from '../auth/session.ts'
import { SignInView } from '../auth/sign-in.tsx'
import { parseLogSearch } from '../log/search.ts'
import { parseListSearch } from '../orders/address/address.ts'
import { parseReviewSearch } from '../orders/address/question.ts'
import { OrderListView } from '../orders/list/list.tsx'
import { CrashView } from '../ui/crash.tsx'
import { FailureNote } from '../ui/failure.tsx'
import { lazyView, loadParts } from '../ui/lazy-view.tsx'
import mark from '../ui/mark.svg'
import { Announcements } from './announcements.tsx'
import { NotFoundView } from './not-found.tsx'
import { Settings } from './settings.tsx'
import { Shell } from './shell.tsx'

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <Announcements />
    </>
  ),
  notFoundComponent: NotFoundView,
})

/** Everything below is for signed-in people: none of it is drawn before the session is known. */
const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: Gate })

function Gate() {
  const session = useSession()
  useEffect(startSession, [])
  useLaterParts(session.kind === 'signed-in')
  // The state of a view belongs to one person.
  if (session.kind === 'signed-in') return <Shell key={session.user.id} />
  if (session.kind === 'anonymous') return <ToSignIn isLeaving={session.ending === 'signed-out'} />
  return <Splash failure={session.failure} />
}

const calmMilliseconds = 300

/** Loads what most people need next, so that no lost connection or newer version gets in the way. */
function useLaterParts(isSignedIn: boolean): void {
  useEffect(() => {
    if (!isSignedIn) return undefined
    const timer = setTimeout(loadParts, calmMilliseconds)
    return () => clearTimeout(timer)
  }, [isSignedIn])
}

/**
 * Remembers the address once, because it changes during the navigation. After a sign-out it
 * remembers none, because the next person may be someone else.
 */
function ToSignIn({ isLeaving }: { isLeaving: boolean }) {
  const navigate = useNavigate()
  const { href } = useLocation()
  const [to] = useState(isLeaving ? '/' : href)
  useEffect(() => {
    void navigate({ to: '/sign-in', search: { to }, replace: true })
  }, [navigate, to])
  return <Splash failure={undefined} />
}

function Splash({ failure }: { failure: unknown }) {
  return (
    <main className="splash" aria-busy={failure === undefined}>
      <img src={mark} alt="Countersign" width="48" height="48" />
      {failure !== undefined && <FailureNote failure={failure} />}
    </main>
  )
}

interface SignInSearch {
  to: string
  /** Why the company account did not do what was asked for: the code of a problem. */
  company?: string
}

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to, company }: Record<string, unknown>): SignInSearch => ({
    to: innerAddress(to),
    ...(typeof company === 'string' && { company }),
  }),
  component: SignInView,
})

type Load<Name extends string> = () => Promise<Record<Name, ComponentType>>

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const accountId = /^[1-9]\d*$/

/** The pages of settings share their tabs, and no part of an address. */
const settings = createRoute({ getParentRoute: () => signedIn, id: 'settings', component: Settings })

/** `$id` has the form `id`. Any other address has no page, so nobody is asked to sign in for it. */
function viewsIn<const Parent extends AnyRoute>(parent: Parent) {
  return <const Path extends string, Name extends string>(
    path: Path,
    name: Name,
    load: Load<Name>,
    id = /^/,
  ) => {
    const params: object = { parse: (given: { id: string }) => id.test(given.id) && given }
    return createRoute({ getParentRoute: () => parent, path, component: lazyView(name, load), params })
  }
}

/** For everyone, signed in or not. */
const openAt = viewsIn(root)
const viewAt = viewsIn(signedIn)
const settingAt = viewsIn(settings)

const orderList = createRoute({
  getParentRoute: () => signedIn,
  path: '/orders',
  validateSearch: parseListSearch,
  // Part of the first file: most people come for the list, and a second file would mean another wait.
  component: OrderListView,
})
const review = createRoute({
  getParentRoute: () => signedIn,
  path: '/orders/review',
  validateSearch: parseReviewSearch,
  component: lazyView('ReviewView', () => import('../orders/review/review.tsx')),
})
const log = createRoute({
  getParentRoute: () => settings,
  path: '/log',
  validateSearch: parseLogSearch,
  component: lazyView('LogView', () => import('../log/log.tsx')),
})

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    openAt('/forgotten', 'ForgottenView', () => import('../account/forgotten.tsx')),
    openAt('/link', 'LinkView', () => import('../account/link.tsx')),
    openAt('/new-email', 'NewEmailView', () => import('../account/new-email.tsx')),
    signedIn.addChildren([
      orderList,
      review,
      viewAt('/', 'OverviewView', () => import('../overview/overview.tsx')),
      viewAt('/orders/new', 'CreateOrderView', () => import('../orders/create/create.tsx')),
      viewAt('/orders/new/sheet', 'SheetView', () => import('../orders/sheet/sheet.tsx')),
      viewAt('/orders/$id', 'OrderView', () => import('../orders/one/one.tsx'), uuid),
      viewAt('/orders/$id/receipt', 'ReceiptView', () => import('../orders/receipt/receipt.tsx'), uuid),
      viewAt('/account', 'AccountView', () => import('../account/account.tsx')),
      settings.addChildren([
        log,
        settingAt('/approval-policy', 'PolicyView', () => import('../policy/policy.tsx')),
        settingAt('/accounts', 'UsersView', () => import('../administration/users/users.tsx')),
        settingAt('/accounts/users/new', 'InviteView', () => import('../administration/users/invite.tsx')),
        settingAt(
          '/accounts/users/$id',
          'UserView',
          () => import('../administration/users/user.tsx'),
          accountId,
        ),
        settingAt(
          '/accounts/services',
          'ServicesView',
          () => import('../administration/services/services.tsx'),
        ),
        settingAt(
          '/accounts/services/new',
          'AddServiceView',
          () => import('../administration/services/add.tsx'),
        ),
        settingAt(
          '/accounts/services/$id',
          'ServiceView',
          () => import('../administration/services/service.tsx'),
          accountId,
        ),
        settingAt('/accounts/roles', 'RolesView', () => import('../administration/roles/roles.tsx')),
        settingAt('/webhooks', 'WebhooksView', () => import('../administration/webhooks/webhooks.tsx')),
        settingAt('/webhooks/new', 'AddWebhookView', () => import('../administration/webhooks/add.tsx')),
        settingAt(
          '/webhooks/$id',
          'WebhookView',
          () => import('../administration/webhooks/webhook.tsx'),
          uuid,
        ),
      ]),
    ]),
  ]),
  // Addresses hold plain text, as the API's own do; each route reads its own parameters.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: writeSearch,
  defaultPreload: 'intent',
  defaultErrorComponent: CrashView,
  scrollRestoration: true,
})

function writeSearch(search: Record<string, unknown>): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(set.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
