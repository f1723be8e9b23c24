import './ui/tokens.css'
import './ui/fonts.css'
import './ui/base.css'
import './ui/patterns.css'
import './ui/controls.css'
import './ui/dialog.css'
import './ui/progress.css'
import './ui/open-page.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { queries } from './api/queries.ts'
import { router } from './app/routes.tsx'
import { isRemembered } from './auth/life.ts'
import { listenToOtherTabs } from './auth/other-tabs.ts'
import { currentSession, onForget, startSession } from './auth/session.ts'
import { parseListSearch } from './orders/address/address.ts'
import { listQuery } from './orders/address/queries.ts'
import { silence } from './ui/announce.ts'
import { inTab } from './ui/persist.ts'
import { applyTheme } from './ui/theme.ts'

applyTheme()
onForget(() => {
  queries.clear()
  silence()
  const session = currentSession()
  // After a session that expired, the same person may go on with what the tab has kept.
  if (session.kind !== 'anonymous' || session.ending === 'expired') return
  for (const name of inTab.names('')) inTab.drop(name)
})
listenToOtherTabs({ changed: () => void queries.invalidateQueries() })
// As early as possible.
startSession()
// Requested together with the session: on a slow connection the first rows come a second earlier.
if (location.pathname === '/orders' && isRemembered()) {
  const search = parseListSearch(Object.fromEntries(new URLSearchParams(location.search)))
  void queries.prefetchQuery({ ...listQuery(search), retry: false })
}

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
