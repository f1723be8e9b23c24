import {
  createRootRoute,
  createRoute,
  createRouter,
  Outlet,
  type RouteComponent,
  useLocation,
  useNavigate,
} from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { startSession, useSession } from '../auth/session.ts'
import { SignInView } from '../auth/sign-in.tsx'
import { parseLogSearch } from '../log/search.ts'
import { parseListSearch } from '../orders/address/address.ts'
import { parseReviewSearch } from '../orders/address/question.ts'
import { OrderListView } from '../orders/list/list.tsx'
import { parseOverviewSearch } from '../overview/span.ts'
import { FailureNote } from '../ui/failure.tsx'
import { lazyView } from '../ui/lazy-view.tsx'
import mark from '../ui/mark.svg'
import { Announcements } from './announcements.tsx'
import { CrashView } from './crash.tsx'
import { NotFoundView } from './not-found.tsx'
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
  useAllViews(session.kind === 'signed-in')
  // The state of a view belongs to one person.
  if (session.kind === 'signed-in') return <Shell key={session.user.id} />
  if (session.kind === 'anonymous') return <ToSignIn isLeaving={session.ending === 'signed-out'} />
  return <Splash failure={session.failure} />
}

const calmMilliseconds = 300

/** Fetches the rest of the app, so that neither a lost connection nor a newer version stops anyone. */
function useAllViews(isSignedIn: boolean): void {
  useEffect(() => {
    if (!isSignedIn) return undefined
    const timer = setTimeout(() => {
      for (const { load } of Object.values(views)) load().catch(() => undefined)
    }, calmMilliseconds)
    return () => clearTimeout(timer)
  }, [isSignedIn])
}

/**
 * Remembers the address once, because it changes while the router is on its way. After a sign-out it leads
 * nowhere: the next person may be another one.
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

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: ({ to }: Record<string, unknown>) => ({ to: innerAddress(to) }),
  component: SignInView,
})

/** Always an address within this app (ASVS 5.0 3.7.2: no open redirect). */
function innerAddress(value: unknown): string {
  if (typeof value !== 'string' || !URL.canParse(value, location.origin)) return '/'
  const { origin, pathname, search } = new URL(value, location.origin)
  return origin === location.origin ? pathname + search : '/'
}

const views = {
  account: lazyView(() => import('../account/account.tsx'), 'AccountView'),
  overview: lazyView(() => import('../overview/overview.tsx'), 'OverviewView'),
  create: lazyView(() => import('../orders/create/create.tsx'), 'CreateOrderView'),
  order: lazyView(() => import('../orders/one/one.tsx'), 'OrderView'),
  review: lazyView(() => import('../orders/review/review.tsx'), 'ReviewView'),
  policy: lazyView(() => import('../policy/policy.tsx'), 'PolicyView'),
  users: lazyView(() => import('../administration/users/users.tsx'), 'UsersView'),
  invite: lazyView(() => import('../administration/users/invite.tsx'), 'InviteView'),
  user: lazyView(() => import('../administration/users/user.tsx'), 'UserView'),
  services: lazyView(() => import('../administration/services/services.tsx'), 'ServicesView'),
  addService: lazyView(() => import('../administration/services/add.tsx'), 'AddServiceView'),
  service: lazyView(() => import('../administration/services/service.tsx'), 'ServiceView'),
  roles: lazyView(() => import('../administration/roles/roles.tsx'), 'RolesView'),
  log: lazyView(() => import('../log/log.tsx'), 'LogView'),
  receipt: lazyView(() => import('../orders/receipt/receipt.tsx'), 'ReceiptView'),
}

const signedInAt = <const Path extends string>(path: Path, component: RouteComponent) =>
  createRoute({ getParentRoute: () => signedIn, path, component })

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  validateSearch: parseOverviewSearch,
  component: views.overview,
})
const orderList = createRoute({
  getParentRoute: () => signedIn,
  path: '/orders',
  validateSearch: parseListSearch,
  // In the first file: most people come for the list, and a second file would be one more wait.
  component: OrderListView,
})
const newOrder = signedInAt('/orders/new', views.create)
const oneOrder = signedInAt('/orders/$id', views.order)
const review = createRoute({
  getParentRoute: () => signedIn,
  path: '/orders/review',
  validateSearch: parseReviewSearch,
  component: views.review,
})
const receipt = signedInAt('/orders/$id/receipt', views.receipt)
const policy = signedInAt('/approval-policy', views.policy)
const account = signedInAt('/account', views.account)
/** A one-time link names its user; it does not matter who is signed in. */
const link = createRoute({
  getParentRoute: () => root,
  path: '/link',
  component: lazyView(() => import('../account/link.tsx'), 'LinkView'),
})
/** For those who may manage accounts. */
const users = signedInAt('/accounts', views.users)
const invite = signedInAt('/accounts/users/new', views.invite)
const user = signedInAt('/accounts/users/$id', views.user)
const services = signedInAt('/accounts/services', views.services)
const addService = signedInAt('/accounts/services/new', views.addService)
const service = signedInAt('/accounts/services/$id', views.service)
const roles = signedInAt('/accounts/roles', views.roles)
const administration = [users, invite, user, services, addService, service, roles] as const
const log = createRoute({
  getParentRoute: () => signedIn,
  path: '/log',
  validateSearch: parseLogSearch,
  component: views.log,
})
const problems = createRoute({
  getParentRoute: () => root,
  path: '/problems',
  component: lazyView(() => import('../problems/problems.tsx'), 'ProblemsView'),
})
const problem = createRoute({
  getParentRoute: () => root,
  path: '/problems/$code',
  component: lazyView(() => import('../problems/problems.tsx'), 'ProblemView'),
})

export const router = createRouter({
  routeTree: root.addChildren([
    signIn,
    link,
    problems,
    problem,
    signedIn.addChildren([
      overview,
      orderList,
      newOrder,
      review,
      oneOrder,
      receipt,
      policy,
      log,
      account,
      ...administration,
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
